"""Chinese: whether a sentence asks the memory to forget, and what.

忘掉我对猫过敏这件事 is said to the memory; 忘掉那段感情吧 is said to a person, and 把第三段删掉 is
about a text. What is asked must speak of the person's own matters or of what was said here, or the
sentence must turn to the assistant.
"""

import re

_POLITE = (
    r"(?:请|麻烦|拜托|那|对了|你|您|帮我|给我|替我|也|可以|能不能|能否|以后|都|快|就|算了|还是|"
    r"现在|赶紧|"
    r"好的?|嗯|另外|还有|啊|，|,){0,8}"
)
_POLITE_START = re.compile(_POLITE)
_VERB = (
    r"(?:忘掉|忘记|忘了|忘却|遗忘|抹掉|抹去|删掉|删除|删了|清除|清掉|清空|移除|"
    r"(?:别|不要|不用|不必|唔好|唔使)(?:再)?(?:记住|记着|记得|记)了?|(?:别|不要|不用|不必)(?:再)?(?:保存|存着?|"
    r"记录|留着)|撤回|收回|擦掉|忘干净|不用再?记着?了?|不必再?记|无需记)"
)
_TAIL = r"(?:掉|了|吧|好了|好吗|行吗|可以吗|啊|呀|啦)*(?:[，,].{0,20})?$"
_PATTERNS = (
    re.compile(
        rf"{_POLITE}{_VERB}(?!带|拿|买|了?密码|了?吃|了?告诉你|说了|关(?!于)|锁|自己|时间|他吧|"
        rf"她吧|"
        r"不了|不掉|我吧|了?我是谁|初心|做|写|回|打|交|给)(?:掉|吧|关于|"
        r"有关|我说的?|我说过的?|我刚才?说的?|我之前说的?|我告诉你的?|这件事|这条|"
        r"这一?点|一下|你?记忆|里|中|的|：|:|，|,|\s){0,12}(?P<what>[^，,]*)(?:[，,].*)?$",
        re.DOTALL,
    ),
    re.compile(
        rf"{_POLITE}(?P<what>[^，。]{{2,40}}?)(?:这件?事儿?|那件?事儿?|这条|那条|这一?点)?，?"
        rf"(?:你|您)(?:就|快|可以|都|赶紧|还是|也)*(?:忘了|忘掉|忘记|忘干净|删了|删掉|删除|抹掉|"
        rf"擦掉|别存){_TAIL}"
    ),
    re.compile(
        r"(?P<what>[^，。]{2,40}?)(?:这件?事儿?|那件?事儿?|这条|那条|这一?点)，?"
        rf"(?:就|快|可以|都|赶紧|给我|请|从你[^，。]{1, 6}[里中])*(?:忘了|忘掉|忘记|忘干净|删了|"
        rf"删掉|作废|不作数|不算数){_TAIL}"
    ),
    re.compile(
        r"(?P<what>[^，。]{2,40}?)，?(?:你|您)?(?:就|可以|都)?(?:不用|别|不要|不必)再?记(?:着|住|"
        r"了)?"
        r"(?:吧|了|好了)?(?:，.{0,20})?$"
    ),
    re.compile(
        rf"{_POLITE}把(?P<what>[^，。]{{1,60}}?)(?:这件事|这条|的?记忆|"
        r"这一?点)?(?:都|全部?|也|给我|从(?:你的?)?记忆(?:里|中)?)*(?:忘掉|忘记|忘了|抹掉|删掉|"
        rf"删除|删了|清除|清掉|清空|移除){_TAIL}"
    ),
    re.compile(
        r"(?P<what>[^，。]{0,40}?)，?(?:你)?(?:就)?(?:当|就当|全当)我没(?:有)?(?:说|提|讲)(?:过)?"
        r"(?P<more>[^，。]{0,12})$"
    ),
)
_OURS = re.compile(
    r"我|俺|咱|刚才|刚刚|之前|前面|上面|以上|上一|上次|说的|说过|讲的|提到|提过|告诉|聊|记忆|"
    r"记的|记着|"
    r"关于|有关|所有|全部|一切|这条|那条|这件|那件|这些|那些|这个|那个|这句|那句|这事|那事"
)
_TURNS_TO_US = re.compile(r"^(?:请|麻烦|拜托|你|您|帮我|给我|可以|能不能)|记忆")
# A text, a thing or a feeling to be rid of.
_NOT_OURS = re.compile(
    r"文档|文件|代码|邮件|照片|相册|视频|聊天记录|微信|好友|朋友圈|短信|PPT|ppt|表格|"
    r"第.[段行列页条张句]|"
    r"段落|标点|空格|冰箱|软件|应用|app|APP|评论|帖子|感情|过去|烦恼|不愉快|不开心|伤痛|痛苦|回忆|"
    r"前半句|后半句|注释|变量|函数|分支|缓存|他吧|她吧|它吧|^[他她它]$"
)


def asked(sentence: str) -> str | None:
    """What is to be forgotten, in the sentence's words; "" is what was just said; None: nothing."""
    for pattern in _PATTERNS:
        if (match := pattern.match(sentence)) and _is_meant(match["what"], sentence):
            return re.sub(r"(?:的事情?)?(?:吧|了|啦|好吗)+$", "", match["what"]).strip(" ，。,.!！")
    return None


def _is_meant(what: str, sentence: str) -> bool:
    if _NOT_OURS.search(what) or re.search(r"怎么|如何|什么|为什么|谁|不了|不掉", sentence):
        return False
    said = _POLITE_START.sub("", sentence)
    return not what or bool(_OURS.search(said) or _TURNS_TO_US.search(sentence))
