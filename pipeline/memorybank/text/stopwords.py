"""Function words per language: left out of the index, and the evidence for a language guess."""


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


#: Words as `fold` leaves them (case folded, accents kept), so that they compare without further work.
STOP_WORDS: dict[str, frozenset[str]] = {
    code: _words(words)
    for code, words in {
        "en": """a about above after again against all am an and any are aren't as at be because been
            before being below between both but by can can't cannot could couldn't did didn't do does
            doesn't doing don't down during each else ever few for from further had hadn't has hasn't
            have haven't having he he'd he'll he's her here here's hers herself him himself his how
            how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself let's me more
            most my myself no nor not of off on once only or other ought our ours ourselves out over
            own same shan't she she'd she'll she's should shouldn't so some such than that that's the
            their theirs them themselves then there there's these they they'd they'll they're they've
            this those through to too under until up us very was wasn't we we'd we'll we're we've were
            weren't what what's when when's where where's which while who who's whom whose why why's
            will with won't would wouldn't you you'd you'll you're you've your yours yourself
            yourselves just also""",
        "de": """aber alle allem allen aller alles als also am an ander andere anderem anderen anderer
            anderes auch auf aus bei beim bin bis bist da damit dann das dass dein deine deinem deinen
            deiner dem den denn der des dessen deren dich die dies diese diesem diesen dieser dieses
            dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer eure für
            gegen gewesen hab habe haben hat hatte hatten hatte hin hinter ich ihm ihn ihnen ihr
            ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jene jenem jenen
            jener jetzt kann kein keine keinem keinen keiner können könnte machen man mein meine
            meinem meinen meiner mich mir mit muss nach nicht nichts noch nun nur ob oder ohne sehr
            sein seine seinem seinen seiner seit sich sie sind so solche soll sollte sondern sonst
            über um und uns unser unsere unserem unseren unserer unter viel vom von vor war waren
            warst was weg weil welche welchem welchen welcher welches wem wen wenn wer werde werden
            wessen wie wieder will wir wird wirst wo wollen wollte wurde wurden würde würden zu zum
            zur zwar zwischen wann warum""",
        "fr": """a afin ai aie ainsi alors après as assez au aucun aucune aujourd'hui aussi autre autres
            aux avait avaient avant avec avez avoir avons ayant c'est ça car ce ceci cela celle celles
            celui ces cet cette ceux chaque chez comme comment d'un d'une dans de depuis des dès donc
            dont du elle elles en encore entre es est et étaient était étant été être eu eux fait fut
            ici il ils j'ai j'avais je jusque la là le lequel les leur leurs lors lorsque lui ma mais
            me même mes moi moins mon n'a n'est ne ni non nos notre nous on ont ou où par parce pas
            pendant peu peut peux plus pour pourquoi qu'elle qu'il qu'on quand que quel quelle quelles
            quels qui quoi s'est sa sans se sera ses si son sont sous suis sur ta te tes toi ton tous
            tout toute toutes très trop tu un une vers voici voilà vont vos votre vous y était sommes
            êtes""",
        "es": """a ahora al algo algunas algunos ante antes aquel aquella aquellos aquí así aunque cada
            como cómo con contra cual cuál cuándo cuando de del desde donde dónde dos durante e el él
            ella ellas ellos en entre era eran eres es esa esas ese eso esos esta está estaba estaban
            están estar estas este esto estos estoy estuvo fue fueron fui ha había habían haber hacia
            han has hasta hay he hemos la las le les lo los más me mi mí mis mucho muchos muy nada ni
            no nos nosotros nuestra nuestro nuestros o os otra otras otro otros para pero poco por
            porque pues que qué quien quién quienes se sea según ser si sí sido sin sobre son soy su
            sus suya suyo también tan tanto te tenemos tengo tenía ti tiene tienen todo todos tu tú
            tus tuvo un una uno unos usted ustedes va vamos vosotros voy y ya yo""",
        "it": """a abbiamo ad agli ai al alla alle allo allora anche ancora avere aveva avevano avete avevo
            c'è che chi ci ciò cioè come con contro cui cosa da dagli dai dal dall dalla dalle dallo
            degli dei del dell della delle dello di dopo dove e è ebbe ed era erano ero fa fino fra fu
            gli ha hai hanno ho i il in invece io la le lei li lo loro lui ma me mentre mi mia mie
            miei mio molto ne negli nei nel nella nelle nello noi non nostra nostro o ogni oppure per
            perché perciò più poi possa qua quale quali qualche quando quanto quella quelle quelli
            quello questa queste questi questo qui quindi se sei senza si sia siamo siete solo sono
            sopra sotto sta stai stanno stata stati stato stava su sua sue sugli sui sul sulla suo
            suoi te ti tra tu tua tuo tuoi tutti tutto un una uno vi voi""",
        "pt": """a à ainda ao aos aquela aquele aquilo as às até cada com como da das de dela dele deles
            depois do dos e é ela elas ele eles em então entre era eram essa essas esse esses esta
            está estamos estão estar estas estava estavam este esteve estes estou eu faz foi fomos for
            foram fui há isso isto já lhe lhes mais mas me mesmo meu meus minha minhas muito muitos na
            não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos por
            porque qual quando que quê quem são se seja sem ser será seu seus só sob sobre somos sou
            sua suas também tanto te tem têm temos tenho ter teu teve ti tinha tinham tive toda todas
            todo todos tu tua tudo um uma umas uns vai vamos você vocês vou""",
        "ru": """а без более был была были было быть в вам вас весь во вот все всего всех вы где да даже
            для до его ее её если есть еще ещё же за здесь и из или им их к как какая какой когда кто
            куда ли между меня мне мы на над нас наш не него нее неё нет ни них но ну о об он она они
            оно от очень по под потом потому при про раз с сам свой себя со так также там тебя тем то
            тогда того тоже только том ты у уже хотя чего чем что чтобы эта эти это этого этой этом
            этот я""",
    }.items()
}

#: Word -> the languages it is a function word of.
LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _code, _stops in STOP_WORDS.items():
    for _word in sorted(_stops):
        LANGUAGES_OF[_word] = (*LANGUAGES_OF.get(_word, ()), _code)

#: French and Italian words that shrink before an apostrophe: l'école, dell'anno. They carry nothing by
#: themselves.
ELIDED = _words(
    """l d j m t s n c qu jusqu lorsqu puisqu quelqu quoiqu presqu un dell all nell sull dall quest quell
    sant anch"""
)

#: The same as evidence for a language. Letters that English leaves behind an apostrophe (it's, I'd) are none.
LANGUAGES_OF_ELIDED: dict[str, tuple[str, ...]] = {
    "l": ("fr", "it"),
    "c": ("fr", "it"),
    **dict.fromkeys(("j", "n", "qu", "jusqu", "lorsqu"), ("fr",)),
    **dict.fromkeys(("un", "dell", "all", "nell", "sull", "dall", "quest", "quell"), ("it",)),
}
