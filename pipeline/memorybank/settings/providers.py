"""Provider names of the Hindsight server, and how litellm calls the same provider."""

from typing import NamedTuple

from memorybank.errors import InvalidConfig


class Provider(NamedTuple):
    """How to reach a provider: litellm's prefix, the address and key to use where none is given."""

    prefix: str
    base_url: str = ""
    api_key: str = ""
    needs_base_url: bool = False


#: What a local server gets as key: the OpenAI protocol wants one, the server does not look at it.
_NO_KEY = "none"

PROVIDERS = {
    "openai": Provider("openai"),
    "openai-responses": Provider("openai/responses"),
    "anthropic": Provider("anthropic"),
    "atlas": Provider("openai", needs_base_url=True),
    "bedrock": Provider("bedrock"),
    "cohere": Provider("cohere"),
    "deepseek": Provider("deepseek"),
    "fireworks": Provider("fireworks_ai"),
    "gemini": Provider("gemini"),
    "github-copilot": Provider("github_copilot"),
    "groq": Provider("groq"),
    "litellm": Provider(""),
    "llamacpp": Provider("openai", api_key=_NO_KEY, needs_base_url=True),
    "lmstudio": Provider("openai", "http://localhost:1234/v1", _NO_KEY),
    "minimax": Provider("minimax"),
    "mistral": Provider("mistral"),
    "nous": Provider("openai", needs_base_url=True),
    "ollama": Provider("openai", "http://localhost:11434/v1", _NO_KEY),
    "ollama-cloud": Provider("openai", "https://ollama.com/v1"),
    "opencode-go": Provider("opencode_go"),
    "openrouter": Provider("openrouter"),
    "requesty": Provider("openai", "https://router.requesty.ai/v1"),
    "vertexai": Provider("vertex_ai"),
    "volcano": Provider("volcengine"),
    "zai": Provider("zai"),
}

#: No model: the extractive engine.
NONE = "none"

#: Embedding providers of the Hindsight server, by litellm's prefix; the local ones have none.
EMBEDDING_PROVIDERS = {
    "local": "",
    "onnx": "",
    "openai": "openai",
    "gemini": "gemini",
    "cohere": "cohere",
    "openrouter": "openrouter",
    "litellm": "",
    "litellm-sdk": "",
}

#: Those that compute in this process.
LOCAL_EMBEDDINGS = frozenset({"local", "onnx"})


def provider_named(name: str, variable: str) -> Provider:
    """Return a provider by its Hindsight name; one we cannot serve raises InvalidConfig with the variable."""
    if name == "mock":
        raise InvalidConfig(
            f"{variable}=mock: there is no mock model; leave the model out for the extractive engine, "
            "or point the base URL at a scripted server"
        )
    if name not in PROVIDERS:
        raise InvalidConfig(
            f"{variable}: provider {name!r} is not supported; known: {', '.join(sorted(PROVIDERS))}, none"
        )
    return PROVIDERS[name]


def model_name(provider: Provider, model: str) -> str:
    """Return litellm's name of a provider's model."""
    return f"{provider.prefix}/{model}" if provider.prefix else model
