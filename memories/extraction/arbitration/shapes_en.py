"""The English shapes in which an attribute is told: the first that fits gives slot and value.

Groups: `v` the value, `n` a name, `t` what the slot belongs to, `d` detail before the value.
"""

import re

from memories.extraction.arbitration.patterns_en import KIN, PETS_EN

_PETS_EN = rf"(?:{PETS_EN})s?"
_KIN_EN = "|".join([*KIN, "children"])
_BE = r"^(?:am |is |are |was |were |has been |have been |be )?"
_HAVE = r"(?:has|have|had|owns?|got|keeps?|adopted|bought|raises?)"
_DEVICE = r"(?:iphone|pixel|galaxy|samsung|xiaomi|huawei|oneplus|android|nokia|oppo)"
_CAR = r"(?:tesla|toyota|honda|bmw|audi|ford|volvo|mazda|volkswagen|vw|nissan|kia|hyundai|byd)"
_LAPTOP = r"(?:macbook|thinkpad|dell|surface|chromebook|lenovo)"

_SHAPES: tuple[tuple[str, str], ...] = (
    ("kin",
        rf"^{_HAVE} (?:an? |the |no |\w+ )?(?:[\w-]+ )?(?:older |younger |elder |little |big |"
        rf"best |close )?(?P<v>{_KIN_EN})s?\b(?: (?:named|called|whose name is) (?P<n>[\w -]+))"
        r"?"),
    ("pet",
        rf"^{_HAVE} (?:an? |the |no |\w+ )?(?:\w+ ){{0,2}}?(?P<v>{_PETS_EN})"
        r"\b(?: (?:named|called|whose name is) (?P<n>[\w-]+))?"),
    ("name", r"^(?:full |first |real )?name is (?:spelled |actually )?(?P<v>.+)"),
    ("name", r"^(?:is )?(?:named|called) (?P<v>.+)"),
    ("nickname", r"^nickname is (?P<v>.+)"),
    ("nickname", r"^goes by (?P<v>.+)"),
    ("nickname", r"^call me (?P<v>.+)"),
    ("nickname",
        r"^(?:wants?|prefers?|likes?|asks?) to be (?:called|addressed as|known as) (?P<v>.+)"),
    ("nickname", r"^(?:is )?(?:known as|addressed as) (?P<v>.+)"),
    ("commute", r"^commutes? (?:by |on )?(?P<v>.+)"),
    ("grade", r"^grade is (?P<v>.+)"),
    ("eyes", r"^(?:has )?(?P<v>\w+) eyes$"),
    ("eyes", r"^eye colou?r is (?P<v>\w+)"),
    ("allergy", _BE + r"(?:allergic|intolerant) to (?P<v>.+)"),
    ("allergy", r"^(?:has|have) (?:an? |the )?(?P<v>.+?) (?:allergy|intolerance)"),
    ("allergy", _BE + r"(?P<v>\w+) (?:allergy|intolerant)"),
    ("allergy", r"^allerg(?:y|ies)(?: is| are|:) (?:to )?(?P<v>.+)"),
    ("birthday", r"^(?:birthday|birth date|date of birth) (?:is |falls )?(?:on )?(?P<v>.+)"),
    ("birthday", r"^(?:is |was )?born (?:on )(?P<v>.+)"),
    ("birthday", r"^celebrates? (?:\w+ )?birthday on (?P<v>.+)"),
    ("kin", r"^(?:is |am )?an (?P<v>only child)$"),
    ("car", r"^(?:has|have|own|owns)(?: an?| any)? (?P<v>car)$"),
    ("household", r"^(?:is )?(?:lives?|living) (?:all )?(?P<v>(?:alone|with|together with) ?.*)"),
    ("birth_year_animal", r"born in the year of the (?P<v>\w+)"),
    ("birth_year_animal", r"^chinese zodiac(?: sign| animal)? is (?:the |a )?(?P<v>\w+)"),
    ("zodiac", r"^(?:zodiac|star|sun)(?: sign)? is (?:an? |the )?(?P<v>\w+)"),
    ("zodiac",
        r"^(?:is |am )?an? (?P<v>aries|taurus|gemini|cancer|leo|virgo|libra|scorpio|"
        r"sagittarius|capricorn|aquarius|pisces)$"),
    ("wake", r"^(?:wakes?|gets?) up (?:at |around |by )(?P<v>.+)"),
    ("origin", _BE + r"(?:from|born in) (?P<v>.+)"),
    ("origin", r"^(?:comes?|came) from (?P<v>.+)"),
    ("origin", r"^grew up in (?P<v>.+)"),
    ("origin", r"^hometown is (?P<v>.+)"),
    ("origin", r"^native of (?P<v>.+)"),
    ("employer", r"^(?:works?|working|worked|is working|am working) (?:at|for) (?P<v>.+)"),
    ("employer", r"^(?:is )?employed (?:by|at) (?P<v>.+)"),
    ("employer", r"^employer is (?P<v>.+)"),
    ("employer", r"^joined (?P<v>.+)"),
    ("employer", r"^left (?P<v>.+)"),
    ("job", r"^(?:is |am )?(?:works?|working|worked|employed|hired) as (?:an? )?(?P<v>.+)"),
    ("native", r"^(?:is |am )?an? native (?P<v>\w+)(?: speaker)?$"),
    ("job", r"^(?:\w+ )?(?:job|profession|occupation) is (?:an? |to be )?(?P<v>.+)"),
    ("job",
        r"^(?:became|has become|(?:got|has) (?:a|the|a new) job as|got promoted to|"
        r"was promoted to|changed jobs? to|changed careers? to) (?:an? )?(?P<v>.+)"),
    ("home",
        r"^(?:is |am |was )?(?:lives?|living|lived|resides?|residing|stays?|staying|"
        r"based|located|settled) (?:in|at) (?P<v>.+)"),
    ("home",
        r"^(?:has |have |is |am )?(?:moved|relocated|relocating|moving)(?: from .+?)"
        r"? (?:back )?to (?P<v>.+)"),
    ("home", r"^lives? (?:near|outside|close to) (?P<v>.+)"),
    ("home", r"^home(?: city| town)? is (?:in )?(?P<v>.+)"),
    ("home", r"^(?:home )?address is (?P<v>.+)"),
    ("age", r"^(?:is |am )?(?P<v>\d+|\w+)(?: |-)years?(?: |-)old\b"),
    ("age", r"^age(?:d)?(?: is)? (?P<v>\d+)"),
    ("age", r"^turn(?:s|ed) (?P<v>\d+)"),
    ("age", r"^is (?P<v>\d+)$"),
    ("deadline",
        r"^(?:the )?(?:deadline|due date) (?:of|for) (?:the )?(?P<t>.+?) (?:is|was|"
        r"has been|moved|changed|got)\b (?P<v>.+)"),
    ("deadline",
        r"^(?:the )?(?P<t>.*?) ?(?:deadline|due date) (?:is|was|has been|moved|changed|"
        r"got|has moved)\b (?P<v>.+)"),
    ("deadline", r"^(?:the )?(?P<t>.+?) is due (?:on |by )?(?P<v>.+)"),
    ("deadline",
        r"^(?:must|has to|needs to|have to|need to) (?:finish|submit|hand in|deliver|"
        r"complete) (?:the )?(?P<t>.+?) (?:by|on|before) (?P<v>.+)"),
    ("phone",
        r"^(?:uses?|has|have|owns?|bought|got|switched|upgraded|changed)(?: phones?)"
        rf"?(?: to| from .+? to)? (?:an? |the |new )*(?P<v>.*\b{_DEVICE}\b.*)"),
    ("phone", r"^(?:phone|mobile)(?: model)? is (?:an? )?(?P<v>.+)"),
    ("number", r"^(?:phone|mobile|telephone) number is (?P<v>.+)"),
    ("email", r"^e-?mail(?: address)? is (?P<v>.+)"),
    ("car",
        r"^(?:drives?|owns?|has|have|bought|got|switched to) (?:an? |the |new )"
        rf"*(?P<v>.*\b{_CAR}\b.*)"),
    ("car", r"^car is an? (?P<v>.+)"),
    ("car", r"^drives an? (?P<v>.+)"),
    ("laptop",
        r"^(?:uses?|has|owns?|bought|got|switched to|works on) (?:an? |the |new )"
        rf"*(?P<v>.*\b{_LAPTOP}\b.*)"),
    ("laptop", r"^(?:laptop|computer) is an? (?P<v>.+)"),
    ("favorite",
        r"^(?:(?:has an? )?(?:all-time )?favou?rite) (?P<t>[\w ]+?) (?:is|are|:)"
        r" (?P<v>.+)"),
    ("native", r"^(?:native language|mother tongue) is (?P<v>.+)"),
    ("reply_language",
        r"^(?:prefers?|wants?|likes?) (?:answers|replies|responses|to be answered)"
        r" in (?P<v>chinese|english|japanese|french|german|spanish|korean)"),
    ("reply_language",
        r"^(?:answer|reply|respond|write)(?: to me)? in (?P<v>chinese|english|japanese|"
        r"french|german|spanish|korean)"),
    ("speaks", r"^(?:is |am )?(?:speaks?|fluent in|knows?)(?: fluent)? (?P<v>.+)"),
    ("learns",
        r"^(?:is |am )?(?:learns?|learning|started learning|began learning) (?:how )"
        r"?(?:to )?(?P<v>.+)"),
    ("major", r"^(?:is |am )?(?:major(?:s|ing)? in|studies|studying|study) "
     r"(?!(?:at|in|on|with|every|hard|from|for|by|alone|late)\b)(?P<v>.+)"),
    ("major", r"^major is (?P<v>.+)"),
    ("school", r"^(?:is |am )?(?:studies|studying|study|student|a student) at (?P<v>.+)"),
    ("school", r"^(?:goes to|attends?) (?P<v>.*(?:university|college|school).*)"),
    ("blood", r"^blood type is (?P<v>.+)"),
    ("blood", r"^has blood type (?P<v>.+)"),
    ("height", r"^(?:is |am )?(?P<v>\d+(?:\.\d+)?) ?(?:cm|m|meters?|feet) tall"),
    ("height", r"^height is (?P<v>.+)"),
    ("weight", r"^weigh(?:s|ed)? (?P<v>.+)"),
    ("weight", r"^weight is (?P<v>.+)"),
    ("timezone", r"^time ?zone is (?P<v>.+)"),
    ("bedtime", r"^(?:goes|go) to (?:bed|sleep) (?:at|around) (?P<v>.+)"),
    ("bedtime", r"^bedtime is (?P<v>.+)"),
    ("marital", r"^(?:is |am |got |has |just )*(?P<v>married|single|divorced|engaged|widowed)\b"),
    ("like-", r"^(?:hates?|dislikes?|detests?|loathes?|despises?) (?P<v>.+)"),
    ("fear", _BE + r"(?:afraid|scared|terrified) of (?P<v>.+)"),
    ("fear", r"^(?:has (?:a |an )?)?(?:fears?|phobia) (?:of )?(?P<v>.+)"),
    ("like",
        r"^(?:likes?|loves?|loved|liked|enjoys?|adores?|prefers?|is fond of|am fond of|"
        r"is into|is keen on|is an? (?:big |huge )?fan of|fan of|is crazy about|fond of|"
        r"is passionate about|has a passion for|would rather have|wants?|can (?:stand|"
        r"bear)|cares? for) (?:to )?(?P<v>.+)"),
    ("like", r"^(?:hobby|hobbies|favou?rite hobby) (?:is|are|include|includes) (?P<v>.+)"),
    ("like-", r"^(?:dreads?|is not into|gets annoyed by|is annoyed by|is bored by) (?P<v>.+)"),
    ("habit", r"^(?:can )?(?P<v>(?:drinks?|drinking|eats?|eating|smokes?|smoking|had)\b.*)"),
    ("plays", r"^(?:can )?(?:has )?(?:plays?|playing|played) (?:the )?(?P<v>.+)"),
    ("is", r"^(?:is |am |are |was |become |became )(?:an? |the )?(?P<v>.+)"),
    ("thing",
        r"^(?:the )?(?P<t>[a-z][\w' -]*?)(?:'s)? (?:is|are|was|will be|has been moved|"
        r"moved|has moved|changed|has changed|costs?|takes place|starts|ends) (?:to )"
        r"?(?:an? |the |on |at )*(?P<v>.+)"),
)  # fmt: skip
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (slot, re.compile(shape)) for slot, shape in _SHAPES
)
