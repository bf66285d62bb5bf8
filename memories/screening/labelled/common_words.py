"""Common words around secrets: those that link a label to its value, and those no value has."""

from __future__ import annotations

from memcenter.lib.text.stopwords import ENGLISH
from memories.screening import linear

_LINKS_WORDS = """
is was are were be being been its it's equals equal means called reads becomes became goes 's
it'll that's they're iz
"""
LINKS = frozenset(_LINKS_WORDS.split())
# "changed to", and "set my password to".
_CHANGES_WORDS = """
set changed change switched switch updated update reset make made resetting changing
"""
CHANGES = frozenset(_CHANGES_WORDS.split())
# Words between a link and its value: "is now simply", "changed to".
_BETWEEN_WORDS = """
back now still currently always just simply usually actually basically literally only probably
definitely again currently, be my the this following set changed to it as called like either and
so well um uh er hmm btw ok okay spelled written all one word lowercase uppercase caps with in
case you need if ask asks forget quote unquote :) today tonight then also
"""
BETWEEN = frozenset(_BETWEEN_WORDS.split())
# A number after one of these words counts, measures or names something else.
_BEFORE_A_COUNT_WORDS = """
number in since by until till about around roughly approximately over under nearly almost than after
before within every page room chapter version step level section bus flight route highway line
gate platform terminal track seat row floor apt suite unit year extension ext ticket order invoice
case issue bug pr build model error status http https exit zip postal area country course episode
season article rfc iso port ip the-year total costs cost paid pay $ € £ ¥ top another these those
some other first last next past lasts has have had needs need requires require takes took minimum
maximum least most up between from for-the-last no. class lesson copy copies answered guests at on
"""
BEFORE_A_COUNT = frozenset(_BEFORE_A_COUNT_WORDS.split())
_AFTER_A_COUNT_WORDS = """
characters character chars digits digit letters letter numbers symbols words bits bytes days day
weeks week months month years year hours hour hrs minutes minute mins seconds second secs times
time people users accounts passwords codes keys tokens attempts tries sites apps devices points
dollars euros pounds bucks usd eur yuan rmb percent km miles meters metres feet kg lbs calories
items pages steps rooms guests employees customers members entries logins emails messages requests
calls of am pm o'clock pieces copies hits prompts sqft mb gb tb kb mm cm songs photos episodes
chapters lines rows
"""
AFTER_A_COUNT = frozenset(_AFTER_A_COUNT_WORDS.split())
# A link before one of these words describes the secret instead of giving it.
_NO_VALUE_WORDS = """
not too very so wrong incorrect right correct invalid valid expired expiring required needed
missing weak strong safe secure long short same saved stored kept in on at a an the being what why
how where which who when whether asked easy hard difficult never ever good bad old new important
hashed encrypted gone lost forgotten working blank empty something nothing secret private your our
their his her hers only case broken written shared stolen leaked compromised unique random simple
complex complicated different ok okay fine available used correctly it that this these those to
for and or but me you i we he she they supposed due enough more less much many most better worse
best worst stronger weaker longer shorter safer easier harder below above here there inside under
behind next near from by with without within of off up down out over one two three four five six
seven eight nine ten each every any some all both none no yes if because since until while after
before then than as about around per still yet already again always often sometimes rarely usually
also just really quite pretty rather kinda sorta super extremely totally mostly likely probably
maybe perhaps sure uncertain unclear unknown known public common personal sensitive confidential
classified temporary permanent default optional mandatory necessary useful useless annoying
terrible horrible awful great ridiculous silly stupid dumb funny obvious guessable crackable
case-sensitive alphanumeric numeric up-to-date out-of-date outdated dead alive back fun cool nice
lame dangerous risky bulletproof overrated underrated key vital critical crucial essential part
mine yours ours theirs going getting making having doing coming trying becoming can could should
would will must may might do does did don't doesn't didn't isn't wasn't aren't won't can't cannot
i'm you're he's she's we're they're i've let's there's who's what's like anything anyone someone
everybody everything somewhere nowhere late early active inactive enabled disabled ready set reset
changed rotated revoked refused rejected accepted denied blocked locked unlocked stuck frozen slow
fast offline online live pending overdue free cheap expensive limited unlimited identical similar
equal zero-knowledge plain plaintext cleartext readable unreadable visible invisible hidden masked
redacted verified unverified confirmed recoverable resettable irretrievable transferable such its
mature okay'd authentication security history garbage trash king everyone's somebody's nobody's
tbd n/a na null todo unset undefined sent delivered emailed texted printed posted taped
"""
NO_VALUE = frozenset(_NO_VALUE_WORDS.split())
_ADJECTIVE = linear.compile(
    r"(?i)^[a-z]{2,}(?:ing|ed|able|ible|less|ful|ous|ive|ically|ly|ical|ish|est)$"
)
FUNCTION_WORDS = ENGLISH | {"without", "because", "since", "every", "also", "whenever", "anyway"}
_PRONOUN_WORDS = """
this that it what here there which who where he she they these those everything something nothing
one mine yours security safety privacy changing resetting forgetting remembering losing sharing
protecting setting having using keeping storing writing typing choosing that's now today question
and but so or because if when
"""
_PRONOUNS = frozenset(_PRONOUN_WORDS.split())

# A Han text after 是 that isn't the secret itself.
NO_VALUE_ZH = linear.compile(
    r"^(?:什么|啥|多少|哪|谁|不|错|对的|正确|很|太|挺|我(?:的|们|妈|爸|家|自己|老)?|你|您|他|她|"
    r"它|这|那|怎|用来|用于|由|必|需|可以|一样|自己|"
    r"随机|空|为了|因为|有|没|在|用户|系统|默认|登录|保护|安全|重要|最|更|比较|非常|十分|特别|真|"
    r"真的|还|也|都|要|得|会|能|应该|老是|总是|经常|"
    r"一个|一种|一项|一道|一串|一组|几位|多位|由|如何|个|大家|所有|每|各|何|否|同一|相同|不同|"
    r"唯一|别人|人家|公司|网络|电影|小说|"
    r"两|三个月|半年|定期|随便|乱|复杂|简单|难|容易|好记|难记|字母|数字|大写|小写|英文|中文|特殊|"
    r"混合|加密|明文|泄露|过期|失效|有效|无效|"
    r"写|存|记|放|贴|发|给|被|让|把|跟|和|与|从|到|对|按照|根据|按|通过|指|说|问|想|忘|改|换|设|"
    r"重置|找回|输|点|长|短|强|弱|旧|新|老|原|以前|之前|"
    r"密码|口令|暗号|验证码|生日|手机号|一门|一部|一本|人类|时间|努力|坚持|勇气|爱|信任|沟通|健康|"
    r"成功|幸福|财富|开放|公开|免费|临时|永久|固定|"
    r"动态|静态|一次性|独立|统一|通用|全部|完全|绝对|肯定|当然|已经|刚|马上|立刻|早|晚|今|昨|明|"
    r"去年|上|下|前|后|第|空的|对|错的|ok)"
)
_ENDS_ZH = linear.compile(
    r"(?:的|了|吗|呢|吧|啊|呀|么|过|着|去|来|里|上|下|中|时|性|题|事|点|些|学|法|长|短|高|低|错误|"
    r"正确|问题|办|办法|原因|规则|策略|要求|工具|管理|软件|过期|失效)$"
)


def is_phrase(words: list[str], *, by_sign: bool = False) -> bool:
    """Whether plain words right after "the password is" are the password and nothing else.

    After a sign ("password: …") nearly everything is the password.
    """
    first = words[0].lower().strip("'\"")
    if by_sign:
        return first not in NO_VALUE and first not in FUNCTION_WORDS and len(first) >= 3
    if first in NO_VALUE or first in FUNCTION_WORDS or _ADJECTIVE.search(first) or len(first) < 3:
        return False
    rest = [word.lower() for word in words[1:4]]
    return not any(word in FUNCTION_WORDS for word in rest[:2]) or len(words) >= 12


def may_come_first(word: str) -> bool:
    """Whether the word can be the password in "<word> is my password"."""
    bare = word.lower()
    return bare not in _PRONOUNS and bare not in FUNCTION_WORDS and not bare.endswith("ing")


def is_han_phrase(text: str, *, by_sign: bool = False) -> bool:
    """Like `is_phrase`, for text after 密码是 or 密码：."""
    if not 2 <= len(text) <= 12 or NO_VALUE_ZH.search(text):
        return False
    return by_sign or not _ENDS_ZH.search(text)
