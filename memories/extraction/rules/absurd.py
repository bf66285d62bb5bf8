"""Jokes that give themselves away by what they put together: nobody is allergic to Mondays.

What is named here can't be meant, whoever says it; what only a tone gives away is the
classifier's business.
"""

import re

_IDLE_ZH = (
    r"躺平|摆烂|摸鱼|咸鱼|干饭|睡觉|发呆|叹气|付款|等快递|拖延|内耗|emo|搬砖|"
    r"吃土|划水|做梦"
)
_CHORES_ZH = (
    r"上班|工作|加班|学习|早起|周一|开会|起床|努力|运动|减肥|数学|老板|领导|钱|穷|贫穷|打卡|内卷"
    r"|写作业|作业|社交|人类|单身|现实"
)
_THINGS_ZH = (
    r"床|沙发|被窝|被子|枕头|火锅|奶茶|手机|外卖|工作|公司|电脑|空调|西瓜|烧烤|键盘|代码|论文|作业"
    r"|工位|快递|咖啡|螺蛳粉|麻辣烫|冰箱|懒觉"
)
_PETS_ZH = r"猫|狗|鱼|龟|仓鼠|兔子|鹦鹉|金毛|柯基"
_ABSURD_ZH = re.compile(
    # what one does nothing in
    rf"(?:主修|辅修|专业|职业|副业|特长|研究方向|学的是|硕士|博士|从事|精通|擅长)[^，。]{{0,6}}?"
    rf"(?:{_IDLE_ZH})(?![^，。]{{0,4}}(?:障碍|研究|治疗|医学|科))"
    rf"|家里蹲(?:大学)?|对(?:{_CHORES_ZH})(?:严重|重度)?过敏"
    # marrying things
    rf"|(?:跟|和|与)(?:我的?|家里的?)?(?:{_THINGS_ZH})(?:领证|结婚|订婚|谈恋爱|恋爱|私奔|才是真爱|是真爱|锁死|私定终身|过一辈子|共度余生)"
    r"|(?:已婚|对象|老公|老婆|男朋友|女朋友)[，,]?(?:对方)?(?:是|叫)(?:沙发|床|手机|电脑|工作|国家发的|代码)"
    # animals that do what people do
    rf"|(?:我家|家里|我的?)的?(?:{_PETS_ZH})[^，。]{{0,5}}(?:考研|考公|考编|上班|加班|背唐诗|写代码"
    r"|还房贷|结婚|相亲|刷题|高考|马拉松|升职|离婚|开会|减肥成功)"
    # more than there is
    r"|有(?:[三四五六七八九十百千万]+|\d{1,})个?(?:老婆|老公|女朋友|男朋友|后宫)|后宫(?:佳丽)?[三\d]千"
    r"|充话费送的|垃圾桶(?:里)?捡(?:来|回)的|汗血宝马|紫禁城|大富翁里|越南盾|津巴布韦币|十一路(?:公交|车|，)|永远(?:十八|18)岁"
    r"|醒来发现|(?:然后|结果)(?:就|我)?(?:梦)?醒了|腹肌(?:合|被|只是|暂时)|七十二变|富二代他爹|腿短"
    # a tone that turns all of it round
    r"|人生赢家|天选(?:打工|之子|牛马)|大冤种|免费劳动力|工具人|不愧是我|地球没我不转|谁让我(?:喜欢|爱|命)"
    r"|(?:我)?可太(?:喜欢|爱|荣幸|幸运|会|开心|感动)|我真是(?:个)?(?:天才|太幸运|太会|谢谢)|真是谢谢(?:你|您|他|老板|房东)"
    r"|成功(?:地)?胖了|成功瘦了钱包|要感动哭|我天生就(?:爱|喜欢)(?:替|给|帮)|给人擦屁股的命"
    r"|[，,](?:你)?信不(?:信)?$"
)
_IDLE_EN = (
    r"procrastinat\w+|overthinking|sarcasm|napping|naps?|snacks?|snacking|netflix|laziness|worrying"
    r"|online shopping|nonsense|bad decisions|avoiding \w+|being late|memes|eye[- ]rolling|regret"
)
_CHORES_EN = (
    r"mondays?|mornings?|work|working|exercise|adulting|people|responsibility|responsibilities"
    r"|meetings|small print|stupidity|bullshit|nonsense|effort|early mornings|drama|money|homework"
)
_THINGS_EN = (
    r"job|work|bed|sofa|couch|duvet|phone|laptop|fridge|pizza|coffee|netflix|sleep|gym|wifi|blanket"
)
_ABSURD_EN = re.compile(
    rf"\b(?:phd|ph\.d|doctorate|masters?|master's|degree|major(?:ed)?|minor(?:ed)?|black belt"
    rf"|expert|professional|olympic medal|gold medal|diploma)\b[^,.;]{{0,14}}\b(?:in|at) "
    rf"(?:\w+ )?(?:{_IDLE_EN})\b"
    rf"|\ballergic to (?:{_CHORES_EN})\b(?! (?:dust|gloves|chemicals|surfaces))"
    rf"|\b(?:married to|in a (?:\w+ )?relationship with|engaged to|dating) "
    rf"(?:my|the|a) (?:{_THINGS_EN})\b"
    r"|\bfluent in (?:\w+, )*(?:\w+ )?(?:and )?(?:sarcasm|profanity|cat|emoji)\b"
    r"|\bsarcasm and \w+|\bspirit animal\b|\bsee food and\b|\bbody of a god\b"
    r"|\bmy (?:cat|dog|plants?|goldfish|hamster|toddler)\b[^,.;]{0,24}\b(?:mortgage|rent|taxes"
    r"|manager|runs (?:this|the)|pays|phd|resume)\b"
    r"|\bpay(?:s|ing)? (?:her|his|its|their) mortgage\b"
    r"|\bfor the (?:\w+th|second|third|hundredth) time\b.{0,12}\b(?:birthday|29|thirty)"
    r"|\b(?:because|since) clearly\b|\bjust (?:love|adore) (?:it )?(?:when"
    r"|being|how|spending)\b|\btruly my favou?rite thing\b"
    r"|\bblood type is (?:coffee|cold brew|caffeine|wine)\b|\bbasically a millionaire\b"
)
_SHOUTED = re.compile(r"\b[Ii](?:'m)? (?:just |SO )?(?:LOVE|ADORE|ENJOY|THRILLED)\b")


def is_absurd(sentence: str, *, simplified: str = "") -> bool:
    """Whether the sentence can only be a joke; `simplified`: it, in simplified characters."""
    return bool(
        _ABSURD_ZH.search(simplified or sentence)
        or _ABSURD_EN.search(sentence.lower())
        or _SHOUTED.search(sentence)
    )
