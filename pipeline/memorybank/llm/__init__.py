"""Models: the gateway to language models, and embeddings."""
