"""A statement found in a message, as a memory in the person's own words.

Fillers come off at both ends. Square brackets hold what the words alone don't tell: who a pronoun
means, the subject of a list, the question that is answered, the day of "tomorrow". Nothing is
reworded, and no negation, hedge or condition is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

from memories.extraction.dates import Dated, dates_in
from memories.screening import linear

LONGEST = 400  # characters of a memory
_READ = 2_000  # characters that are read of a statement, before it, and of an earlier message


@dataclass(frozen=True)
class OwnWords:
    """The text of a memory, the day it tells of, and its `data`.

    `data` has any of `date`, `until`, `since` (ISO days), `amounts`, `names` and `relation`.
    """

    text: str
    occurred: date | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


# --- words

_FILLERS = {
    "en": "so yeah|oh yeah|you know|i mean|by the way|btw|fyi|well|yeah|yep|yes|so|um+|uh+|er|hm+"
    "|oh|ok|okay|anyway|and|but|also|plus|because|cos|cuz|please|pls|actually|basically|honestly"
    "|tbh",
    "es": "y|pero|pues|bueno|porque|o sea|por favor|porfa|además|sí|ay|ok",
    "de": "und|aber|also|halt|naja|na ja|ähm?|ach|ja|weil|denn|übrigens|bitte|ok",
    "fr": "et|mais|donc|ben|bah|euh|alors|enfin|bon|oui|du coup|en fait|parce que|stp|ok",
}
_FILLERS_AFTER = {
    "en": "you know|i mean|btw|fyi|and|but|or|um+|uh+|lol|haha+|tbh|please|pls|thanks|thx",
    "es": "y|pero|pues|o sea|por favor|porfa|gracias",
    "de": "und|aber|halt|bitte|danke|oder",
    "fr": "et|mais|quoi|hein|stp|merci|s'il te plaît",
}
_CJK_FILLERS = (
    "就是说|就是說|就是|然后|然後|嗯+|呃+|哦+|噢+|啊|那么|对了|對了|而且|但是|所以|因为|因為"
    "|えっと|えーと|まあ|それで|そして|でも|ちなみに|ok"
)
_CJK_FILLERS_AFTER = (
    "哈哈+|嘿嘿|谢谢|謝謝|啊|呢|哦|喔|呀|嘛|然后|然後|但是|而且|就是|www+|ありがとう"
)
_EDGE = " \t\n\r,.;:!?~…–—，。、；：！？～"
_NOT = (
    "not|never|no longer|cannot|can't|cant|don't|dont|doesn't|doesnt|didn't|didnt|isn't|isnt"
    "|aren't|arent|wasn't|wasnt|won't|wont|haven't|hasn't|shouldn't|couldn't|wouldn't|hardly"
    "|barely|without|used to|nicht|kein|keine|keinen|keinem|keiner|nie|niemals|ohne|früher|pas"
    "|jamais|plus|sans|ne|avant|nunca|jamás|ni|sin|ya no|antes|no"
)
_IF = (
    "if|unless|maybe|perhaps|might|probably|possibly|i think|i guess|falls|wenn|vielleicht|wohl"
    "|si|peut-être|quizás?|tal vez"
)
_CJK_NOT = "不再|不是|不|没有|没|沒有|沒|别|別|未|无|無|勿|唔|冇|以前|从前|曾经"
_CJK_IF = "如果|要是|可能|也许|也許|好像|大概|もし|たぶん"
_SUBJECT = "i|you|he|she|we|they|ich|du|wir|je|j'|tu|nous|il|elle|yo|él|ella"
_NO_NEGATION = linear.compile(
    "特别|特別|分别|区别|别人|別人|别的|差不多|不过|不错|没事|不好意思|未来|无聊"
)
_BEFORE = linear.compile(
    rf"(?i)(?:^|[\s,;(])(?P<all>(?:(?:{_SUBJECT})\s+)?(?:(?P<if>{_IF})|(?P<not>{_NOT})))"
    r"(?P<gap>(?:\s+[\p{L}'’]+){0,2})\s+$"
)
_CJK_BEFORE = linear.compile(
    rf"(?P<all>我?(?:(?P<if>{_CJK_IF})|(?P<not>{_CJK_NOT})))(?P<gap>[^\s，。！？,.!?;；、]{{0,3}})$"
)
_AFTER = linear.compile(
    r"(?i)^(\s+(?:anymore|any more|no longer|nicht mehr|nicht|pas|jamais)\b|ない|ません)"
)
_NOT_THIS = linear.compile(  # it negates something else
    r"\s(?:and|but|y|pero|und|aber|et|mais|que|dass|that|forget|vergiss|oublie|oubliez|olvides)\s"
    "|[忘对對行]|不是不是"
)
_STARTS_ANEW = linear.compile(rf"(?i)^(?:(?:{_SUBJECT})(?:['’\s]|$)|[我你她他它])")
_HEDGES = linear.compile(
    rf"(?i)(?:^|[^\p{{L}}])(?:{_NOT}|{_IF}|[a-z]+n['’]t)(?:[^\p{{L}}]|$)|{_CJK_NOT}|{_CJK_IF}"
    rf"|ない|ません"
)
_REQUEST = linear.compile(
    r"(?i)[,.;!?，。；！？]\s*(?:(?:so|and|but|also|pues|und|et|donc)\s+)?(?:(?:can|could|would"
    r"|will) you"
    "|what should|how do i|how can i|any ideas|any tips|suggest|recommend|help me|(?:kannst"
    "|könntest) du|puedes|podrías|me ayudas|tu peux|peux-tu|pouvez-vous|(?:那|所以)?(?:帮我|幫我"
    "|能不能|你能|怎么办)|教えて)"
)
# Who is meant: f, m, "" (either), s (several), p (a pet)
_RELATIONS = {
    "f": "mother-in-law|sister-in-law|mother|mom|mum|mama|mamá|maman|auntie|aunt|wife|sister"
    "|daughter|girlfriend|gf|grandmother|grandma|granny|gran|nan|niece|mutter|mutti|frau"
    "|schwester|tochter|freundin|oma|tante|nichte|chefin|nachbarin|enkelin|madre|mujer|esposa"
    "|hermana|hija|novia|abuela|tía|sobrina|nieta|amiga|jefa|mère|femme|sœur|soeur|fille|copine"
    "|grand-mère|mamie|daronne|amie",
    "m": "father-in-law|brother-in-law|father|daddy|dad|papá|papa|uncle|husband|brother|bro|son"
    "|boyfriend|bf|grandfather|grandpa|grandad|granddad|nephew|vater|mann|bruder|sohn|freund|opa"
    "|onkel|neffe|chef|nachbar|enkel|padre|marido|esposo|hermano|hijo|novio|abuelo|tío|sobrino"
    "|nieto|amigo|jefe|père|mari|frère|fils|copain|mec|grand-père|papi|daron|chum",
    "": "partner|fiancée?|boss|manager|friend|bestie|doctor|therapist|landlord|neighbou?r"
    "|colleague|coworker|flatmate|roommate|teacher|cousin|kid|child|baby|toddler|ärztin|arzt|kind"
    "|kollegin|kollege|bébé|médecin|prof|coloc|médico|bebé|primo|prima",
    "s": "parents|kids|children|twins|sons|daughters|brothers|sisters|friends|grandparents|eltern"
    "|kinder|padres|hijos|hijas|hermanos|enfants",
    "p": "kitten|cat|puppy|dog|rabbit|hamster|horse|parrot|katze|kater|hund|gato|gata|perrita"
    "|perro|perra|chatte|chat|chienne|chien",
}
_CJK_RELATION = (
    "父母|爸妈|双胞胎|两个孩子|孩子们|両親|女朋友|女友|男朋友|男友|妈妈?|媽媽?|母亲|母親|爸爸?"
    "|父亲|父親|姐姐?|姊姊?|妹妹?|哥哥?|弟弟?|小姨|大姨|阿姨|姨妈|姨|姑姑|姑妈|姑父|叔叔?|舅舅?"
    "|舅妈|婶婶?|老婆|媳妇|妻子|太太|老公|丈夫|老伴|爱人|对象|女儿|女兒|闺女|儿子|兒子|外孙女"
    "|孙女|外孙|孙子|奶奶|姥姥|外婆|爷爷|姥爷|外公|婆婆|公公|岳母|岳父|侄女|侄子|嫂子|闺蜜|老板"
    "|同事|室友|舍友|朋友|房东|导师|邻居|孩子|宝宝|大宝|二宝|老大|老二|猫|貓|狗"
)
_JA_RELATION = (
    "彼女|彼氏|お母さん|お父さん|義母|義父|母|父|妻|夫|姉|妹|兄|弟|息子|娘|祖母|祖父|上司|先輩"
    "|部長|猫|犬"
)
_OWN = "my|our|meine?[nrms]?|mei|unsere?[nrms]?|mis?|mon|ma|mes|notre|nos|the"
_OURS = linear.compile(rf"(?i)^(?:{_OWN}) ")
_KIND_OF = (
    "little|big|older|younger|oldest|youngest|eldest|lil|late|best|old|twin|kleine[nr]?"
    "|große[nr]?|beste[nr]?|petite?|grande?|meilleure?|difunto"
)
_PERSON = linear.compile(
    rf"(?i:(?:^|[^\p{{L}}])(?P<who>(?:(?P<own>{_OWN})\s+)?(?:(?:{_KIND_OF})\s+)?(?:"
    + "|".join(
        rf"(?P<{name}>{_RELATIONS[gender]})"
        for gender, name in (("s", "several"), ("f", "f"), ("m", "m"), ("", "any"), ("p", "pet"))
    )
    + r")))(?P<name>,?\s+(?-i:\p{Lu}[\p{Ll}-]+))?(?:[^\p{L}]|$)"
)
_CJK_PERSON = linear.compile(
    rf"(?P<who>(?:(?:我們?|我们|俺"
    rf"|咱)?家?的?[大小二三老]?)(?P<relation>{_CJK_RELATION}))(?P<name>叫\p{{Han}}{{2,3}})?"
)
_JA_PERSON = linear.compile(
    rf"(?P<who>(?:私の|俺の"
    rf"|うちの)?(?P<relation>{_JA_RELATION}))(?P<name>の[\p{{Han}}\p{{Katakana}}]{{2,4}})?"
)
_NAME = linear.compile(
    r"(?:^|[^\p{L}'’])(?P<who>(?:(?i:my|our|mi|ma|mon)\s+)?\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?)"
)
_FIRST_NAME = linear.compile(r"^\p{Lu}\p{Ll}+ (?:[a-z]+s|and|can't|won't|est|a|es|tiene)\b")
_NAMED = linear.compile(
    r"(?i:called|named|name is|heißt|heisst|namens|se llama|s'appelle|名叫|叫做|叫|名字是"
    r"|名前は)\s*(?P<who>\p{Lu}\p{Ll}+|\p{Han}{2,3}|[\p{Hiragana}\p{Katakana}]{2,6})"
)
_PLACE = linear.compile(r"(?i)\b(?:in|at|to|from|near|of|en|a|de|à|the|mr|dr|st)\s*$")
_NO_NAMES = frozenset(
    one
    for row in (
        "I Im Ive Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March",
        "April May June July August September October November December Jan Feb Mar Apr Jun Jul",
        "Aug Sep Sept Oct Nov Dec English German French Spanish Chinese Japanese",
    )
    for one in row.split()
)
_PRONOUNS = {
    "en": {
        "f": "she|shes|her|hers",
        "m": "he|hes|him|his",
        "s": "they|theyre|them|their",
        "p": "it|its",
    },
    "de": {"f": "sie|ihr|ihre", "m": "er|ihm|ihn"},
    "es": {"f": "ella", "m": "él"},
    "fr": {"f": "elle", "m": "il"},
    "zh": {"s": "他们|她们|它们|他們|她們", "f": "她", "m": "[他佢]", "p": "[它牠]"},
    "ja": {"f": "彼女", "m": "彼"},
}
_NO_PRONOUN = linear.compile("^(?:il (?:y a|faut|fait|est)|彼氏|他人|他妈的|吉他|其他)")
_AMOUNT = linear.compile(
    r"(?i)[€$£¥￥]\s?[0-9][0-9.,]*\s?[km]?\b|[0-9][0-9.,]*\s?(?:€|£|\$|euros?\b|eur\b|dollars?\b"
    r"|bucks\b|quid\b|pounds?\b|usd\b|k\b|pesos\b|[百千万萬]?(?:块钱?|塊|元|円|万|萬))"
    r"|[一二两兩三四五六七八九十百千万半]+(?:块钱?|塊|元|円)"
)
_QUESTION = {
    "en": r"(?:what|when|where|who|which|how)(?:['’]s|s| is| are| was)? (?:your|the|his"
    r"|her) (?P<a>[^?,]+)|(?:what|which) (?P<b>[\p{L}’' ]+?) (?:do|does|did|should|would|are|is"
    r"|have)\b",
    "de": r"(?:was|wann|wo|wie|wer|welche[rsn]?)(?: ist| sind| heißt| war)? (?:dein|ihr|der|die"
    r"|das|deine|ihre)\w* (?P<a>[^?,]+)",
    "es": r"(?:qué|cuál|cuándo|dónde|quién|cómo) (?:es|son|está|se llama)? ?(?:tu|su|la"
    r"|el) (?P<a>[^?,]+)",
    "fr": r"(?:quel(?:le)? est|c'est quoi|comment s'appelle|où est|quand est) (?:ton|ta|votre|le"
    r"|la) (?P<a>[^?,]+)",
    "zh": r"(?:什么|哪个|哪种)(?P<a>\p{Han}{2,4})$|(?:^"
    r"|[，。！,您你])(?P<b>[^\P{Han}您你]{2,5})的?(?:是|叫|在)?"
    "(?:什么|几点|多|谁|哪)",
    "ja": r"(?P<a>[^。、？！\s]{1,12})は(?:何|いつ|どこ|誰|どちら|どれ)?[^。、]{0,8}$",
}
_QUESTIONS = {language: linear.compile(f"(?i){pattern}") for language, pattern in _QUESTION.items()}
# Short questions that give no word for the matter: they stand before the answer as they are.
_WHOLE_QUESTION = linear.compile(
    r"(?i)^(?:where|how (?:old|tall|many|often|long)|(?:wo|woher|wie (?:alt|groß|viele|oft|lange))"
    r"|(?:de )?dónde|cuánt[oa]s?|qué edad|d['’]où|où|quel âge|combien)\b[^?,]{2,40}$"
)
_SENTENCE = linear.compile(r"[^.!?。！？\n]+[?？]\s*$")
_FIRST_VERB = linear.compile(
    r"(?i)^(?:work|live|have|love|hate|like|can['’]?t|don['’]?t (?:like|eat|drink|have|want|do)"
    r"|play|eat|am|go|got|need|want|never|speak|take|run|drive|own|prefer)\b"
)
_ICH_VERB = linear.compile(
    "^(?:[a-zäöü]{2,}[b-df-hj-mp-rtv-xz]e|(?i:bin|hab|habe|kann|mag|muss|lern|geh|wohne|arbeite"
    "|esse|nehme|trinke|spiele|studiere)) "
)
_NO_VERB = linear.compile(
    r"(?i)^(?:alle|viele|antworte|schreibe|diese|jede|gerne|heute|bitte)\b|\b(?:ich|i|wir)\b"
)
_TO_ASSISTANT = linear.compile(
    "^(?:别|別|不要|不用|給我|给我|以后|说|用|叫|直接|无须|答|讲|列|先|千万|都用|是)|[你您请請]"
    "|回答|作答|今后|日后|默认"
)
_FIRST_PERSON = linear.compile("[我俺咱私僕吾]|本人|自己|老朽")


def _ends(language: str) -> tuple[linear.Pattern, linear.Pattern]:
    if language in _FILLERS:
        first = linear.compile(rf"(?i)^(?:{_FILLERS[language]})(?:[\s,.…!:;–-]+|$)")
        return first, linear.compile(rf"(?i)[\s,.…!;](?:{_FILLERS_AFTER[language]})$")
    first = linear.compile(rf"(?i)^(?:{_CJK_FILLERS}|那[个個][，,…\s])[，,、…\s]*")
    return first, linear.compile(rf"(?:{_CJK_FILLERS_AFTER})$")


_ENDS = {language: _ends(language) for language in _PRONOUNS}


def _start(found: linear.Match, group: str) -> int:
    return int(found.start(found.re.groupindex[group]))


def _end(found: linear.Match, group: str) -> int:
    return int(found.end(found.re.groupindex[group]))


# --- the statement within its message


def own_words(
    message: str,
    start: int,
    end: int,
    *,
    others: Sequence[tuple[int, int]],
    before: Sequence[str],
    assistant: str,
    spoken_at: datetime,
    language: str,
    whose: str,
    holds: str = "",
) -> OwnWords:
    """The statement `message[start:end]` as a memory that stands alone.

    `others` are the other statements of the message, `before` the person's earlier messages,
    oldest first, `assistant` what the assistant said last, `whose` self, related or others, and
    `holds` how the statement holds (lasting, habit, planned, past, passing), if that is known.
    """
    language = language if language in _PRONOUNS else "en"
    start, end = max(0, start), min(len(message), end)
    start, end = _widened(message, start, end, others=others, language=language)
    start, end = _trimmed(message, start, end, language=language)
    text = message[start:end][:_READ]
    asked = _SENTENCE.search(assistant[-200:])
    earlier = [message[max(0, start - _READ) : start], asked[0] if asked else ""]
    earlier += [one[-_READ:] for one in reversed(before)]
    opens = message[:start].rstrip()[-1:] in ("", *".!?…:\n-")
    named = text[:1].isupper() and not opens and language != "de"
    added = [] if named else _meant(text, earlier, language=language, whose=whose)
    if not added:
        lead = _matter(text, message[:start], assistant, language) or _subject(
            text, message[:start], others, language=language, whose=whose
        )
        added = [(0, lead)] if lead else []
    dates = dates_in(text, spoken_at=spoken_at, language=language, holds=holds)
    gap = "" if language in ("zh", "ja") else " "
    added += [(one.end, f"{gap}[{_written(one)}]") for one in dates if one.relative]
    whole = "".join(_inserted(text, sorted(added, key=lambda one: one[0])))
    told = next((one.first for one in dates if one.kind == "on"), None)
    return OwnWords(text=_cut(whole), occurred=told, data=_data(whole, dates, language))


def _inserted(text: str, added: Sequence[tuple[int, str]]) -> Iterator[str]:
    last = 0
    for at, words in added:
        yield text[last:at] + words
        last = at
    yield text[last:]


def _cut(text: str) -> str:
    """At most `LONGEST` characters, on a word boundary and outside of brackets."""
    if len(text) <= LONGEST:
        return text
    short = text[:LONGEST]
    if short.rfind("[") > short.rfind("]"):
        short = short[: short.rfind("[")]
    space = short.rfind(" ")
    if text[len(short) : len(short) + 1].isascii() and space > LONGEST // 2:
        short = short[:space]
    return short.rstrip()


def _widened(
    message: str, start: int, end: int, *, others: Sequence[tuple[int, int]], language: str
) -> tuple[int, int]:
    """The range with a negation, hedge or condition that stands just before or after it."""
    floor = max([one_end for _, one_end in others if one_end <= start] + [start - 60, 0])
    cjk = language in ("zh", "ja")
    lead = message[floor:start]
    lead = _NO_NEGATION.sub(lambda found: "□" * len(found[0]), lead) if cjk else lead
    found = (_CJK_BEFORE if cjk else _BEFORE).search(lead)
    if found and _belongs(found, message[start:end]):
        start = floor + _start(found, "all")
    after = _AFTER.search(message[end : end + 24])
    return start, end + (after.end() if after else 0)


def _belongs(found: linear.Match, statement: str) -> bool:
    gap = found["gap"].lower().split()
    if found["not"] and _STARTS_ANEW.search(statement):
        return False
    negation = (found["not"] or "").lower()
    if negation == "no" and (gap or (found["all"].lower() == "no" and not found.start())):
        return False  # "no and he …" is an answer
    return not _NOT_THIS.search(f"{found['all']}{found['gap']} ".lower())


def _trimmed(message: str, start: int, end: int, *, language: str) -> tuple[int, int]:
    """The range without fillers, punctuation and a request at its ends, unless one negates."""
    whole = (start, end)
    asked = _REQUEST.search(message[start:end])
    if asked and asked.start() > 0 and not _HEDGES.search(message[start + asked.start() : end]):
        end = start + asked.start()
    first, last = _ENDS[language]
    for _ in range(6):
        while start < end and message[start] in _EDGE + ")）]":
            start += 1
        while start < end and message[end - 1] in _EDGE + "(（[":
            end -= 1
        text = message[start:end]
        head, tail = first.search(text[:80]), last.search(text[-80:])
        if head and 0 < head.end() < len(text) and not _HEDGES.search(text[: head.end()]):
            start += head.end()
        elif tail and len(tail[0]) < len(text) and not _HEDGES.search(tail[0]):
            end -= len(tail[0])
        else:
            break
    return (start, end) if start < end else whole


# --- who is meant


class _Person(NamedTuple):
    start: int
    words: str
    gender: str = ""
    relation: str = ""
    name: str = ""


def _people(text: str, language: str) -> Iterator[_Person]:
    """The relatives and friends that `text` names."""
    if language in ("zh", "ja"):
        for found in (_CJK_PERSON if language == "zh" else _JA_PERSON).finditer(text):
            name = (found["name"] or "")[1:]
            words = found["who"] + (found["name"] or "").removeprefix("叫")
            gender = _cjk_gender(found["relation"])
            yield _Person(_start(found, "who"), words, gender, found["relation"], name)
        return
    for found in _PERSON.finditer(text):
        if found["own"] or found["name"] or _start(found, "who") == 0:
            name = (found["name"] or "").lstrip(", ")
            genders = {"several": "s", "f": "f", "m": "m", "any": "", "pet": "p"}
            group = next(group for group in genders if found[group])
            words = f"{found['who']} {name}".strip()
            yield _Person(_start(found, "who"), words, genders[group], found[group].lower(), name)


def _cjk_gender(word: str) -> str:
    if any(one in word for one in ("父母", "爸妈", "双胞胎", "两个", "们", "両親")):
        return "s"
    if any(one in word for one in "猫貓狗犬"):
        return "p"
    if any(one in word for one in "父夫公爷爸男哥弟叔舅儿子兒兄息") and not any(
        one in word for one in "女妻孩妈"
    ):
        return "m"
    return "f" if any(one in word for one in "妈媽母姐姊妹姨姑婶婆妻女奶姥嫂闺太娘姉媳") else ""


def _fits(pronoun: str, person: str) -> bool:
    if pronoun in ("s", "p"):
        return pronoun == person
    return person in (pronoun, "", "p") or (not pronoun and person != "s")


def _antecedent(earlier: Sequence[str], pronoun: str, language: str) -> str:
    """The nearest person named before who fits."""
    for number, text in enumerate(earlier):
        people = [*_people(text, language)]
        if language in ("en", "es", "fr") and pronoun not in ("s", "p") and number < 2:
            taken = [(one.start, one.start + len(one.words)) for one in people]
            people += [
                one
                for one in _names(text)
                if not any(start <= one.start < end for start, end in taken)
            ]
        for one in sorted(people, reverse=True):
            if _fits(pronoun, one.gender):
                return one.words
    return ""


def _names(text: str) -> Iterator[_Person]:
    """Capitalised words within a sentence that are no places, months or weekdays."""
    for found in _NAME.finditer(text):
        before, words = text[: _start(found, "who")].rstrip(" "), found["who"]
        if (
            before[-1:] in tuple('.!?:…\n"“¿¡-')
            or _PLACE.search(before[-8:])
            or words.split()[-1] in _NO_NAMES
        ):
            continue
        if before or _FIRST_NAME.search(text) or _OURS.search(words):
            yield _Person(_start(found, "who"), words, name=words.split(" ", 1)[-1])


def _meant(
    text: str, earlier: Sequence[str], *, language: str, whose: str
) -> list[tuple[int, str]]:
    """The person behind the first pronoun, or in front where a relative isn't named at all."""
    cjk = language in ("zh", "ja")
    named = [one.start for one in _people(text, language)]
    named += [] if cjk or language == "de" else [one.start for one in _names(text)]
    start, end, gender = _pronoun(text, language)
    if gender:
        who = "" if any(at < start for at in named) else _antecedent(earlier, gender, language)
        return [(end, f"{'' if cjk else ' '}[{who}]")] if who else []
    if whose != "related" or named or _STARTS_ANEW.search(text) or _OURS.search(text):
        return []
    who = _antecedent([earlier[0].rpartition("\n")[2], *earlier[1:]], "", language)
    return [(0, f"[{who}]" if cjk else f"[{who}:] ")] if who else []


def _pronoun(text: str, language: str) -> tuple[int, int, str]:
    """Where the first third-person pronoun stands, and whom it may mean."""
    found = _PRONOUN[language].search(text)
    if found is None or _NO_PRONOUN.search(text[max(0, found.start()) :].lower().strip()):
        return 0, 0, ""
    gender = next(group for group in "fmsp" if found.groupdict().get(group))
    return _start(found, "all"), _end(found, "all"), gender


def _pronoun_pattern(language: str) -> linear.Pattern:
    groups = "|".join(f"(?P<{gender}>{words})" for gender, words in _PRONOUNS[language].items())
    if language in ("zh", "ja"):
        return linear.compile(f"(?P<all>{groups})")
    return linear.compile(
        rf"(?i)(?:^|[^\p{{L}}])(?P<all>(?:{groups})(?:['’](?:s|re|ve|ll|d))?)(?:[^\p{{L}}]|$)"
    )


_PRONOUN = {language: _pronoun_pattern(language) for language in _PRONOUNS}


def _matter(text: str, before: str, assistant: str, language: str) -> str:
    """What a plain question of the assistant is about, in front of a short answer to it."""
    cjk = language in ("zh", "ja")
    long = len(text) > 10 or "は" in text if cjk else len(text.split()) > 4
    asked = _SENTENCE.search(assistant[-200:])
    late = len(before.strip()) > (3 if cjk else 12)
    plain = assistant.count("?") + assistant.count("？") == 1
    if long or late or not plain or asked is None or _FIRST_PERSON.search(text):
        return ""
    question = asked[0].strip(" ?？¿\n")
    found = _QUESTIONS[language].search(question)
    if not found and not cjk and _WHOLE_QUESTION.search(question):
        return f"[{question}?] "
    matter = next((words for words in found.groups() if words), "").strip() if found else ""
    if not matter or len(matter.split()) > 4 or any(one in matter for one in "做想要您你请"):
        return ""
    return f"[{matter}:]" if cjk else f"[{matter}:] "


def _subject(
    text: str, before: str, others: Sequence[tuple[int, int]], *, language: str, whose: str
) -> str:
    """The speaker, where a part of a list or of a Chinese run leaves them out."""
    if whose == "related" and language == "zh" and _CJK_PERSON.search(text[:4]):
        return "" if _FIRST_PERSON.search(text[:4]) or text[0] in "家他她你" else "[我]"
    if whose != "self":
        return ""
    if language == "zh":
        return "" if _FIRST_PERSON.search(text) or _TO_ASSISTANT.search(text) else "[我]"
    if language == "de":
        return "[ich] " if _ICH_VERB.search(text) and not _NO_VERB.search(text) else ""
    run = [
        before[start:end] for start, end in others if end <= len(before) and len(before) - end < 8
    ]
    said_i = any(one.lower().startswith(("i ", "i'", "i’", "im ")) for one in run)
    return "[I] " if language == "en" and said_i and _FIRST_VERB.search(text) else ""


# --- dates and data


def _written(dated: Dated) -> str:
    """The day, or the range: 2026-12-04, 2026-12, 2026-12-07 – 2026-12-13."""
    first, last = dated.first, dated.last
    if first == last or dated.kind == "since":
        return first.isoformat()
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year)
    return f"{first.isoformat()} – {last.isoformat()}"


def _data(text: str, dates: Sequence[Dated], language: str) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for one in reversed(dates):
        if one.kind == "on":
            data["date"] = one.first.isoformat()
            data |= {"until": one.last.isoformat()} if one.last > one.first else {}
        else:
            data[one.kind] = (one.first if one.kind == "since" else one.last).isoformat()
    amounts = [found[0].strip() for found in _AMOUNT.finditer(text)]
    people = list(_people(text, language))
    names = [one.name for one in people if one.name]
    names += [found["who"] for found in _NAMED.finditer(text)]
    if language in ("en", "es", "fr"):
        names += [one.name for one in _names(text)]
    data |= {"amounts": amounts} if amounts else {}
    data |= {"names": list(dict.fromkeys(names))} if names else {}
    data |= {"relation": people[0].relation} if people else {}
    return data
