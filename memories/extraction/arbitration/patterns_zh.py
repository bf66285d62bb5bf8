"""The Chinese words that turn a statement: whom it is about, when it holds, whether it does."""

import re

from memories.extraction.arbitration.wordlists import words

KIN = {
    "妈妈": "mother", "母亲": "mother", "妈": "mother", "爸爸": "father", "父亲": "father",
    "爸": "father", "姐姐": "sister.elder", "妹妹": "sister.younger", "姐妹": "sister",
    "哥哥": "brother.elder", "弟弟": "brother.younger", "老婆": "wife", "妻子": "wife",
    "太太": "wife", "丈夫": "husband", "老公": "husband", "女儿": "daughter", "儿子": "son",
    "女朋友": "girlfriend", "男朋友": "boyfriend", "女友": "girlfriend", "男友": "boyfriend",
    "朋友": "friend", "同事": "colleague", "老板": "boss", "领导": "boss", "奶奶": "grandmother",
    "爷爷": "grandfather", "外婆": "grandmother.maternal", "姥姥": "grandmother.maternal",
    "外公": "grandfather.maternal", "姥爷": "grandfather.maternal", "室友": "roommate",
    "舍友": "roommate", "孩子": "child", "小孩": "child", "宝宝": "child", "邻居": "neighbor",
    "父母": "parents", "爸妈": "parents", "表哥": "cousin", "表姐": "cousin", "表弟": "cousin",
    "表妹": "cousin", "叔叔": "uncle", "舅舅": "uncle", "阿姨": "aunt", "姑姑": "aunt",
    "对象": "partner", "爱人": "partner", "伴侣": "partner",
}  # fmt: skip
KIN_ZH = "|".join(sorted(KIN, key=len, reverse=True))
PETS_ZH = (
    "小?(?:金毛|拉布拉多|泰迪|贵宾犬|柯基|哈士奇|布偶猫|布偶|猫咪|猫猫|狗狗|金鱼|鹦鹉|"
    "兔子|仓鼠|乌龟|宠物|猫|狗|鸟|鱼|兔|马|龟)"
)
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕"
    "苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史"
    "顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
STOP = words(
    """
    day week month year 骑 办 患 患有 的 了 是 在 有 我 用户 本人 他 她 和 与 跟 也 都 就 还 又
    很 非常 特别 更 最 比较 一个 一名
    一只 一位 一种 一条 一款 个 名 只 位 条 种 款 着 过
    会 要 想 吃 喝 看 听 玩 打 去 做 当 用 叫 给 把 被 对 到 从 里 上 下 中 时 时候 之 所 地 得
    而 但 且 并 或 以及 喜欢 爱 喜爱 热爱 偏好 偏爱
    希望 这 那 它 自己 家 家里 今年 方式 风格 东西 起 来 养 住 已经 目前 现在 使用 不 没 没有
    不再 再 啦 呢 吧 啊 呀 嘛 点 些 一点 一些 者 岁 今 次
    那种 这种 为 可以 能 一起 进行 得 前 之前 于 型 喝 抽 吸 戒 每 号 日 月 年 常常 经常 总是
    一直 平时 通常 公里 一 最近 弹 拉 踢 学着 正在 名字 工作
    ， 、 ； 。 , ; : ： （ ） ( )
    """
)  # fmt: skip

PAST = re.compile(r"以前|曾经|过去|原来|从前|小时候|曾在|曾是|之前(?:在|是|住|养|喜欢)")
ENDED = re.compile(
    r"不再|戒|放弃|停止|辞职|离开了?|离职|卖掉|去世|分手|取消|退了|退掉|不.{1,10}了$|"
    r"没.{1,8}了$|不.{1,8}了[，,]"
)
NOW = re.compile(
    r"现在|目前|如今|最近|改|换|搬|变成|转行|转到|开始|当上|成为|跳槽|升|推迟|提前|"
    r"延期|延到|调整|其实|了?结婚了|离婚了|刚|新|迷上|爱上|又|已经"
)
NEGATIVE = re.compile(
    r"不(?![错久同仅但论管耐加含带甜辣])|没(?!事)|无(?!论|线|锡|糖|咖)|"
    r"(?<![特分区级性个])别(?!人|的|墅)|勿|戒|未(?!来|婚)|放弃|停止"
)
ADVERBS = re.compile(
    r"以前|曾经|过去|原来|从前|小时候|不再|再也|现在|目前|如今|最近|其实|刚刚|刚|已经|"
    r"一直|仍然|还是|依然|非常|特别|十分|真的"
    r"|很(?!多)|超级|相当|极其|经常|常常|平时|通常|总是|一般|从来|从不|从没|今年|去年|"
    r"上个月|下个月|上周(?![一二三四五六日末])"
    r"|绝对|尤其|完全|又|也|都|就是|放弃|停止|^不(?=[喝吃抽住喜爱养用])|没有?(?=养|喝|"
    r"吃|抽)|^不(?=在)|不(?=会|能|想|可)|性格(?:是|比较|有点)?|只(?=喝|吃|有|用|看|"
    r"剩)|^之前(?=在|是|住|养)|(?<!从)开始(?=[吃喝抽养])|^戒掉?了?|^(?:大概|大约)"
)
OFTEN = re.compile(
    r"每晚|每个周末|(?:每|一)(?:天|日|周|星期|个?月|年)(?:[早晚][上晨]?)?|早上|早晨|"
    r"晚上|下午|每个?周末|傍晚|周末|睡前|饭后|有时候?|偶尔|上午"
)
# What a correction takes back: 「住在苏州，不是杭州」「不是杭州，是苏州」「不在杭州了，搬到上海」.
DENIED = re.compile(
    r"[，,；;]?(?:而|并)?(?:不是|不叫|不在|不住在?|并非|而非)[^，,；;]{1,14}$(?<!^)"
    r"|从[^，,；;]+?(?=换成|换到|改成|改用|改到|转到|搬到|跳槽到)"
    r"|^(?:不是|不叫|不在|不住在?|并非)[^，,；;]{1,14}?(?:[，,；;]|(?=而是|是))而?"
)
