"""The small fixed list of topics that a memory can be tagged with, in both languages."""

TOPICS = {
    "family": "家庭",
    "people": "人际",
    "pets": "宠物",
    "health": "健康",
    "food": "饮食",
    "work": "工作",
    "study": "学习",
    "home": "居住",
    "money": "钱财",
    "travel": "出行",
    "hobbies": "爱好",
    "things": "物品",
    "answers": "回答方式",
    "self": "本人",
}


def tag_of(topic: str, *, language: str) -> str:
    """The tag of a topic: Chinese for a Chinese memory, else English."""
    return TOPICS[topic] if language == "zh" else topic
