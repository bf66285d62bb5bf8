"""The words that comparing needs: one concept for its many names, in both languages."""

import re
import threading
from functools import lru_cache
from pathlib import Path

import snowballstemmer

from memories.extraction.arbitration.wordlists import words

_local = threading.local()


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    if not hasattr(_local, "stemmer"):  # a stemmer holds the word it works on: one a thread
        _local.stemmer = snowballstemmer.stemmer("english")
    return str(_local.stemmer.stemWord(word.lower()))


OPPOSITES = """
short:detailed formal:casual early_riser:night_owl work_from_home:office introvert:extrovert
left_handed:right_handed dark_mode:light_mode window_seat:aisle_seat hot:cold large:small
morning:evening metric:imperial tab:space alone:together indoor:outdoor mac:windows spicy:mild
crowd:quiet noise:quiet open:closed private:public enabled:disabled allowed:forbidden early:late
required:optional internal:external manual:automatic online:offline sync:async utc:local
horizontal:vertical optimist:pessimist sweet_taste:salty_taste strict:lenient left:right
religion:atheist lively:quiet thrifty:lavish tidy:messy shared:alone

black:white chinese:english cheap:expensive simple:complex slow:fast
"""

# Of these one excludes the other whatever else is said; the rest need a word in common.
TRAITS = words(
    """
    early_riser night_owl work_from_home office introvert extrovert left_handed right_handed
    religion atheist
    dark_mode light_mode window_seat aisle_seat metric imperial tab space
    """
)
# What each is a kind of: who likes green tea likes tea.
PARENTS = {
    "green_tea": "tea", "black_tea": "tea", "latte": "coffee", "wine": "alcohol",
    "beer": "alcohol", "shrimp": "seafood", "shellfish": "seafood", "crab": "seafood",
    "steak": "beef", "bacon": "pork", "beef": "meat", "pork": "meat", "lamb": "meat",
    "sister": "sibling", "brother": "sibling", "姐姐": "sibling", "妹妹": "sibling",
    "哥哥": "sibling", "弟弟": "sibling", "bmw": "car", "tesla": "car", "audi": "car",
    "toyota": "car", "honda": "car", "volkswagen": "car", "mercedes": "car",
    "parrot": "bird", "cat": "pet", "dog": "pet", "bird": "pet", "rabbit": "pet",
    "hamster": "pet", "turtle": "pet", "horse": "pet", "snake": "pet",
    "golden_retriever": "dog", "labrador": "dog", "poodle": "dog", "corgi": "dog", "husky": "dog",
    "ragdoll": "cat",
    "border_collie": "dog", "shiba": "dog", "samoyed": "dog",
    "british_shorthair": "cat", "tabby": "cat", "ginger_cat": "cat",
    "daughter": "child", "son": "child", "classical_music": "music",
    "jazz": "music", "horror_movie": "movie", "science_fiction": "novel", "surgeon": "doctor",
    "software_engineer": "engineer", "product_manager": "manager", "project_manager": "manager",
}  # fmt: skip

PARENTS |= {
    stem(narrow): kind
    for kind, kinds in {
        "coffee": "espresso cappuccino americano mocha 美式 卡布奇诺 浓缩 摩卡",
        "fish": "salmon tuna cod trout sardine 三文鱼 金枪鱼 鳕鱼 带鱼 生鱼片",
        "shellfish": "oyster lobster mussel clam 生蚝 龙虾 小龙虾 扇贝 大闸蟹",
        "meat": "ham sausage rib brisket burger hamburger schnitzel salami meatball duck turkey "
        "goose chicken barbecue bbq kebab 鸡 鸭 烤鸭 香肠 火腿 烤串 羊肉串 烤肉 汉堡 炸鸡 排骨",
        "dairy": "milk cheese yogurt yoghurt cream butter latte 酸奶 冰淇淋 奶油",
        "alcohol": "whisky whiskey vodka gin rum cocktail champagne sake cider lager 威士忌 鸡尾酒 "
        "伏特加 香槟 清酒",
        "nut": "cashew almond walnut pecan pistachio hazelnut 开心果 榛子",
        "car": "corolla civic prius golf polo sedan suv truck mazda subaru volvo nissan ford "
        "kia hyundai byd lexus porsche fiat renault peugeot skoda jeep "
        "卡罗拉 思域 轿车 飞度 马自达 比亚迪 日产 福特 "
        "现代 起亚 沃尔沃 保时捷 雷克萨斯 五菱 吉利 奇瑞 长城 蔚来 理想 小鹏 别克 斯巴鲁",
        "child": "twin toddler 双胞胎",
        "seafood": "shellfish fish",
        "sweet": "cake candy cookie chocolate brownie 蛋糕 糖果 巧克力 甜甜圈 饼干",
        "spicy": "麻辣烫 麻辣 川菜 湘菜 麻辣火锅 辣子鸡 水煮鱼 curry sichuan",
        "instrument": "piano violin guitar cello drum flute ukulele saxophone trumpet harp "
        "二胡 古筝 琵琶 "
        "笛子 萨克斯 架子鼓 小号 口琴",
        "religion": "christian muslim buddhist jewish catholic hindu "
        "基督徒 佛教徒 穆斯林 天主教徒 基督教 佛教",
        "fruit": "apple banana grape watermelon peach mango 苹果 香蕉 葡萄 西瓜 桃子 榴莲",
        "exercise": "run swim gym yoga basketball football soccer tennis badminton cycle hike",
        "social_media": "instagram twitter facebook tiktok weibo 微博 抖音 小红书 朋友圈",
        "game": "王者荣耀 原神 minecraft fortnite 英雄联盟",
    }.items()
    for narrow in kinds.split()
    if stem(narrow) not in PARENTS
}

COUNTRIES = words(
    """
    japan usa germany france uk itali spain thailand korea vietnam australia canada mexico brazil
    greec portugal swiss switzerland sweden norway finland denmark austria egypt turkey india
    泰国 韩国 意大利 西班牙 越南 澳大利亚 澳洲 加拿大 新加坡 马来西亚 俄罗斯
    瑞士 瑞典 挪威 希腊 埃及 土耳其
    印度 荷兰 新西兰 柬埔寨 印尼 菲律宾 法国 德国 英国 美国 日本
    """
)
# A way of eating, and what nobody who eats so enjoys.
_MEATS = "meat beef steak pork chicken lamb bacon rib hotdog burger ham sausage"
_SEA = "fish seafood shrimp shellfish sushi salmon crab"
FORBIDDEN_BY = {
    "vegan": frozenset(f"{_MEATS} {_SEA} milk dairy egg cheese butter honey latte".split()),
    "vegetarian": frozenset(f"{_MEATS} {_SEA}".split()),
    "pescatarian": frozenset(_MEATS.split()),
    "halal": words(
        """
    pork bacon ham alcohol wine beer
    """
    ),
    "dairy": frozenset(["milk", "cheese", "latte", "butter", "yogurt"]),
    "seafood": frozenset(_SEA.split()),
    "shellfish": frozenset(["shrimp", "crab", "lobster", "oyster"]),
    "nut": frozenset(["peanut", "almond", "walnut", "cashew"]),
    "peanut": frozenset(["peanut_butter"]),
    "gluten": frozenset(["bread", "pasta", "wheat", "noodle"]),
    "height": words("climb bungee skydiv paraglid 攀岩 蹦极 跳伞 滑翔伞 登高"),
    "water": words("swim surf dive snorkel 潜水 游泳 冲浪"),
    "alcohol": words(
        """
    wine beer whisky whiskey cocktail vodka alcohol
    """
    ),
}
DIETS = words(
    """
    vegan vegetarian pescatarian halal keto meat
    """
)
PETS = words(
    """
    golden_retriever labrador poodle corgi husky ragdoll cat dog bird parrot rabbit hamster
    fish turtle horse pet snake
    """
)
JOBS = words(
    """
    nurse doctor dentist teacher professor student software_engineer engineer designer lawyer
    accountant chef counselor product_manager project_manager manager data_analyst freelancer
    data_scientist writer journalist driver police_officer photographer painter artist musician
    pilot firefighter salesperson retired unemployed midwife surgeon vet pharmacist architect
    barista baker waiter electrician plumber mechanic carpenter farmer translator editor
    librarian scientist researcher psychologist consultant analyst trainer secretary
    civil_servant soldier judge banker cashier hairdresser tour_guide entrepreneur director
    data_scientist
    """
)
LANGUAGES = words(
    """
    chinese english japanese french german spanish korean italian russian cantonese portugues
    """
)
# What an hour says already.
DAYTIMES = frozenset(["morning", "afternoon", "evening", "noon", "下午", "中午", "凌晨"])
MARITAL = frozenset(["single", "married", "divorced", "engaged", "widowed"])

_PLACES_FILE = Path(__file__).with_name("places.txt")
PARENTS |= {
    stem(name): where
    for line in _PLACES_FILE.read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
    for where, _, names in [line.partition(": ")]
    for name in names.split()
    if stem(name) not in PARENTS
}

_CONCEPTS_FILE = Path(__file__).with_name("concepts.txt")


def _by_name() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _CONCEPTS_FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        concept, *others = line.split()
        for name in (concept, *others):
            key = (
                " ".join(stem(part) for part in re.split("[_-]", name)) if name.isascii() else name
            )
            found.setdefault(key, concept)
    return found


CONCEPT_OF = _by_name()
LONGEST_ENGLISH = max(name.count(" ") + 1 for name in CONCEPT_OF if name.isascii())
LONGEST_CHINESE = max(len(name) for name in CONCEPT_OF if not name.isascii())
_PAIRS = frozenset(frozenset(pair.split(":")) for pair in OPPOSITES.split())


def known_concept(name: str) -> bool:
    """Whether the name is one that we can compare across languages."""
    return name in _CONCEPTS


_CONCEPTS = frozenset(CONCEPT_OF.values())


def opposed(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether one side says the opposite of something that the other says."""
    return any(frozenset((one, other)) in _PAIRS for one in left for other in right)


def opposite_traits(left: frozenset[str], right: frozenset[str]) -> bool:
    """What excludes the other, unless each is told of another occasion."""
    elsewhere = left - TRAITS and right - TRAITS and not (left - TRAITS) & (right - TRAITS)
    return not elsewhere and opposed(with_kinds(left) & TRAITS, with_kinds(right) & TRAITS)


# How Chinese names the kind at the end of the word: 红烧肉 is meat, 岩茶 is tea.
_ENDINGS = {
    "肉": "meat",
    "排": "meat",
    "虾": "seafood",
    "蟹": "seafood",
    "茶": "tea",
    "酒": "alcohol",
}


def _kind(word: str) -> str:
    ending = word[-1:] if len(word) > 1 and word != "肌肉" else ""
    return PARENTS.get(word) or _ENDINGS.get(ending, "")


def with_kinds(words: frozenset[str]) -> frozenset[str]:
    """The words and what each is a kind of, all the way up."""
    above = frozenset(kind for word in words for kind in [_kind(word)] if kind)
    return words if above <= words else with_kinds(words | above)


def ruled_out(stance: frozenset[str], enjoyed: frozenset[str]) -> bool:
    """Whether a diet or an allergy in `stance` forbids something in `enjoyed`."""
    return any(one in enjoyed or FORBIDDEN_BY.get(one, frozenset()) & enjoyed for one in stance)
