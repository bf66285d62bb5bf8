"""The labels: words that announce a secret, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memories.screening import linear
from memories.screening.linear import Pattern


class Cue(Enum):
    """What a label announces, which decides what counts as the secret near it."""

    PASSWORD = "password"  # words, numbers and codes
    CODE = "code"  # numbers and codes of doors and devices; words only after "is"
    KEY = "key"  # long strings of letters and digits
    PHRASE = "phrase"  # many words
    PATTERN = "pattern"  # a swipe over a grid, or turns of a dial
    LOGIN = "login"  # a name and a password
    SERVICE = "service"  # a site or an app: a password only if one clearly follows
    LOOSE_CODE = "loose_code"  # "code" alone
    ANSWER = "answer"  # of a security question
    SENT = "sent"  # a code received in a message
    PLACE = "place"  # only a place: a door, a device
    ACT = "act"  # something is typed, pressed or opened
    EVERYWHERE = "everywhere"  # the same for everything
    CARD_CODE = "card_code"  # three or four digits
    NUMBER = "number"  # of an identity paper
    ACCOUNT = "account"  # of a bank


@dataclass(frozen=True)
class Label:
    cue: Cue
    category: str
    pattern: Pattern


def _label(cue: Cue, category: str, *patterns: str) -> Label:
    return Label(cue, category, linear.compile(f"(?i)(?:{'|'.join(patterns)})"))


_PLACE = (
    r"(?:front|back|side|main|garden|patio|cellar|basement|garage|office|house|flat|apartment|"
    r"home|cabin|cottage|"
    r"chalet|shed|barn|studio|shop|store|gym|pool|clubhouse|building|lobby|entrance|entry|"
    r"stairwell|elevator|lift|"
    r"parking|car ?park|gate|door|doors|alarm|burglar alarm|safe|gun safe|locker|lock|padlock|"
    r"bike|bike lock|bicycle|"
    r"luggage|suitcase|briefcase|lockbox|lock ?box|key ?box|key ?safe|storage|storage unit|"
    r"mailbox|parcel locker|"
    r"vault|keypad|key ?pad|intercom|buzzer|smart ?lock|deadbolt|airbnb|hotel safe|server room|"
    r"nas|router|modem|wi-?fi|"
    r"network|guest network|hotspot|phone|cell|mobile|iphone|android|tablet|ipad|laptop|macbook|"
    r"computer|pc|mac|watch|"
    r"screen|lock ?screen|sim|voicemail|tv|console|ring|nest|thermostat|printer|car|truck|drawer|"
    r"cabinet|panic room|diary|"
    r"chest|trunk|toolbox|tool ?box|cash ?box|till|register|kids?|parental|child ?lock|club|lodge|"
    r"villa)"
)
_CODE_KIND = (
    r"(?:access|security|entry|unlock|unlocking|disarm|disarming|arming|arm|panic|duress|override|"
    r"master|admin|"
    r"verification|verify|confirmation|auth|authentication|authorization|one[- ]?time|login|log[- "
    r"]?in|sign[- ]?in|"
    r"sms|text|2fa|mfa|two[- ]factor|totp|recovery|backup|emergency|rescue|reset|rescue|scratch|"
    r"activation|"
    r"redeem|redemption|gift ?card|voucher pin|withdrawal|transfer|puk|pairing|device|secret|"
    r"guest|visitor|tenant|"
    r"cleaner'?s?|nanny'?s?|dog ?walker'?s?|service|dial|numeric|number|pin|key|mfa|authenticator|"
    r"six[- ]digit|four[- ]digit|6[- ]digit|4[- ]digit)"
)
_PASS = (
    r"p[a4@][s$5z]{1,2}[ _\-.]?"
    r"(?:w[o0]rds?|w[o0]?r?d|wrds?|code?s?|c0des?|phrases?|fra[sz]es?|keys?)"
)

_LOCKED = (
    r"\b(?:(?:front|back|side|garden|main|store|cellar|garage|office|house|building) )?(?:gates?|"
    r"doors?)\b|"
    r"\b(?:burglar )?alarm\b|\b(?:gun |hotel )?safe\b|\blockers?\b|\b(?:bike|bicycle|luggage|"
    r"suitcase|pad|combination) ?locks?\b|"
    r"\block ?box\b|\bkey ?(?:safe|box|pad)\b|\bintercom\b|\bbuzzer\b|\bgarage\b|\bdeadbolt\b|"
    r"\bsmart ?lock\b|\bentry ?phone\b"
)
_SERVICES = (
    r"\b(?:netflix|steam|gmail|hotmail|outlook|spotify|facebook|insta(?:gram)?|router(?: page)?|"
    r"hulu|amazon|icloud|apple ?id|paypal|ebay|"
    r"twitter|tiktok|reddit|linkedin|github|gitlab|aws|azure|dropbox|disney\+?|hbo|xbox|psn|"
    r"playstation|discord|slack|zoom|wordpress|"
    r"shopify|xero|moodle|canvas|plex|nas|jira|minecraft|roblox|epic|uber|airbnb|booking|whatsapp|"
    r"telegram|signal|snapchat|yahoo|"
    r"protonmail|vpn|ssh|ftp|server|laptop|computer|macbook|pc|network|wi-?fi|hotspot|guest "
    r"network|bank(?:ing)?)\b"
)
_SERVICES_ZH = (
    r"爱奇艺|淘宝|京东|微信|支付宝|学习通|微博|抖音|优酷|腾讯|网易|百度|网盘|邮箱|拼多多|美团|"
    r"滴滴|知乎|豆瓣|哔哩|B站|小红书|钉钉|"
    r"飞书|山姆|教务|选课|内网|服务器|网路|网络|滙豐|foodpanda|KKBOX|\bQQ\b|连"
)

LABELS: tuple[Label, ...] = (
    _label(
        Cue.PHRASE,
        "password",
        r"pass ?-?phrases?",
        r"\b(?:seed|recovery|mnemonic|backup|secret|restore|restoration|wallet|safe|ledger|trezor|"
        r"metamask)"
        r"(?: wallet| account| recovery| seed| backup)? (?:phrases?|words|mnemonics?|seed)\b",
        r"\bmnemonics?\b",
        r"\bseed ?words?\b",
        r"\bsafe ?words?\b",
        r"\b(?:12|24|twelve|twenty[- ]four|eighteen) (?:secret |seed |recovery |magic )?words\b",
        r"助记词|恢复短语|恢复词|种子短语|种子词|助记短语|找回短语|恢复助记|备份短语|(?:1?2|十二|"
        r"二十四|24)个(?:助记词|字|单词|英文单词|助记|恢复|词)",
    ),
    _label(
        Cue.CARD_CODE,
        "card",
        r"\bcvv2?\b",
        r"\bcvc2?\b",
        r"\bcsc\b",
        r"\blast (?:four|4)(?: digits)? (?:of )?(?:my |the )?(?:social|ssn|card)\b",
        r"\bcvn\b",
        r"\bcid code\b",
        r"card security code",
        r"\bsecurity (?:number|digits)\b",
        r"(?:three|3|four|4|last 3|last three) (?:digits?|numbers?|digit code|numerals) (?:on|at|"
        r"from) (?:the|its|my) (?:back|reverse|front)",
        r"(?:number|code|digits) on the back of (?:the|my)[a-z ]{0,16}card",
        r"安全码|后三码|[后末][三3]位(?:数字?|码)?|[背后反]面(?:那)?(?:[三3]个|[三3]位|的|"
        r"那)?(?:数字?|码|数)?|卡背|签名栏",
    ),
    _label(
        Cue.PASSWORD,
        "password",
        _PASS,
        r"\bp/?w[sd]?\b",
        r"\bpswd?\b",
        r"\bpsw(?:r?d)?\b",
        r"\bpa?s?swd\b",
        r"\bpwrd\b",
        r"\bpwds\b",
        r"\bpws\b",
        r"\bpins?\b(?:[ -]?(?:codes?|numbers?|no\.?|#))?",
        r"\bp\.i\.n\.?",
        r"\bp1n\b",
        r"\bpuk\b",
        r"\botps?\b",
        r"\btotp\b",
        r"\btan\b code",
        r"\bpass(?: ?[:=]| is\b|\b[\"']? ?[-–>]+ )",
        r"\bcreds?\b",
        r"\bcredentials?\b",
        r"\bsecret answers?\b",
        r"\bsecurity (?:answers?|questions?)\b",
        r"\bsecret questions?\b",
        r"\bp[a4@][s$5z]{2} ?[:=]",
        r"\bmm (?:for|to|of)\b",
        r"\bopen sesame\b",
        r"\bmagic words?\b",
        r"\blog-?ins?\b(?: details| info| data)?",
        r"[蜜宓密咪秘]\W{0,2}[码碼马馬玛吗嗎妈]|密 ?[:：]|密 |口\W{0,1}令|暗号|通关语|密语|"
        r"密保(?:答案|问题)?|安全问题|"
        r"(?:后备|备用|两步|二次)验证[:：]|"
        r"登录名|\bmi ?ma\b|\bmm ?[:：=]|\bkou ?ling\b|密(?:钥匙)|\bPIN(?:码|号)?",
        r"(?:验证|校验|动态|短信|取件|提货|提取|解压|授权|激活|恢复|备用|救援|兑换|锁屏|开锁|解锁|"
        r"开机|取款|门禁|开门|进门|大门|电梯|车库|门锁|支付|取货|取票|取餐柜|登录|身份验证|重置|"
        r"安全|应急|访客|二次验证|两步验证|确认|一次性|启动|布防|撤防|报警|入户|单元门|楼道|配对|"
        r"查询|提现|交易)(?:的|密)?(?:码|代码|口令)",
    ),
    _label(
        Cue.KEY,
        "api_key",
        r"\bapi[-_ ]?(?:keys?|tokens?|secrets?)\b",
        r"\bsecret(?:[-_ ]?access)?[-_ ]?keys?\b",
        r"\baccess[-_ ]?(?:keys?|tokens?)\b",
        r"\bauth(?:orization|entication)?[-_ ]?(?:keys?|tokens?|codes?)\b",
        r"\b(?:refresh|bearer|bot|session|id|jwt|sas|csrf|deploy|personal access|pat)[-_ "
        r"]?tokens?\b",
        r"\bclient[-_ ]?secrets?\b",
        r"\bprivate[-_ ]?keys?\b",
        r"\b(?:signing|encryption|master|webhook|hmac|license|licence|product|activation|serial|"
        r"recovery|restore|backup|ssh|gpg|pgp|wallet|root|service|account|storage|decryption|"
        r"bitlocker|filevault|host|shared|pre-?shared)[-_ ]?(?:keys?|secrets?)\b",
        r"\b(?:app|setup|auth|hardware|device) (?:setup )?keys?\b",
        r"\btokens?\b",
        r"\bsecrets?\b",
        r"\bcookies?\b",
        r"\bsession ?ids?\b",
        r"\bpsk\b",
        r"\bak\b",
        r"\bsk\b",
        r"\bapp ?secret",
        r"\bappkey\b",
        r"\bapikeys?\b",
        r"密[钥鑰]|秘[钥鑰]|私[钥鑰]|令牌|授权码|恢复密钥|凭证|许可证|序列号|激活码|access ?key|"
        r"\btoken\b",
    ),
    _label(
        Cue.PATTERN,
        "password",
        r"\b(?:unlock|swipe|lock|screen|phone|android)(?:ing)?(?: screen| lock)? patterns?\b",
        r"\bpattern (?:lock|to unlock|for my phone|on my phone|is\b)",
        r"\b(?:combination|combo)s?\b",
        r"(?:解锁|锁屏|手机|开机|屏幕|手势|九宫格)[^，。！？\n]{0,4}(?:图案|手势|图形|画)|"
        r"手势密码|图案密码|图案锁|手势锁|九宫格|密码盘|转盘|保险[箱柜]",
    ),
    _label(
        Cue.CODE,
        "password",
        rf"\b(?:{_PLACE}|{_CODE_KIND})(?:'s)?[ -](?:door[ -]|gate[ -]|lock[ -]|security[ -]|"
        rf"entry[ -]|access[ -]|alarm[ -]|screen[ -])?"
        r"(?:codes?|combos?|combinations?|key ?codes?|key ?pads?|pins?|numbers? code|sequences?|"
        r"digits)\b",
        rf"\b(?:codes?|combos?|combinations?|numbers?|digits|sequence) (?:to|for|of|on|at|into) "
        rf"(?:get(?:ting)? (?:in(?:to)?|past) )?(?:the |my |our |her |his |their |your |mum'?s |"
        rf"mom'?s |dad'?s |grandma'?s )?(?:\w+ )?{_PLACE}\b",
        r"\b(?:codes?|numbers?|combination) (?:to|that) (?:open|opens|unlock|unlocks|disarm|"
        r"disarms|get|gets|let|lets|start|starts|turn off|turns off)\b",
        r"\bkey ?codes?\b",
        r"\bdoor ?codes?\b",
        r"\bpin ?pad\b",
        r"\b(?:the|my|our) (?:six|four|five|6|4|5) digits?\b",
        _LOCKED,
        r"门禁|门锁|密码锁|电子锁|智能锁|指纹锁|行李箱|挂锁|车锁|锁屏|保险[柜箱]|报警器|车库|信箱|"
        r"储物柜|寄存柜|快递柜|开门|开锁|解锁|无线网?|wi-?fi|热点|路由器|撤防|布防|开机|平板|"
        r"键盘锁|箱子锁|自行车锁|单车锁|钥匙盒|大门|后门|院门|防盗门|入户门|单元门|楼下门|柜子",
    ),
    _label(
        Cue.LOGIN,
        "password",
        r"\b(?:log|logs|logged|logging|sign|signs|signed|signing)[ -]?(?:in|on|into)\b(?: to| "
        r"with| using| as| by)?",
        r"\bget(?:s|ting)? (?:me|you|us|him|her|them|anyone)? ?(?:in|into|past)\b",
        r"\bacct\b|\bnetwork\b|\bwi-?fi\b|\bssid\b",
        r"\buser(?:[ -]?name)?s?\b",
        r"\busr\b",
        r"\buid\b",
        r"\baccounts?\b",
        r"\badmin\b",
        r"\broot\b",
        r"\badministrator\b",
        r"\bsudo\b",
        r"登[录陆入上]|账号|帐号|账户|用户名|管理员|进后台|进系统|上网",
    ),
    _label(Cue.SERVICE, "password", _SERVICES, _SERVICES_ZH),
    _label(Cue.LOOSE_CODE, "password", r"\bcodes?\b"),
    _label(
        Cue.ANSWER,
        "password",
        r"\b(?:security|secret|challenge) questions?\b|\bmemorable (?:word|name|place|date|"
        r"information)\b|\bsafe ?words?\b|"
        r"\b(?:telephone|phone|bank(?:ing)?) (?:secret|word)\b|\bfirst pet\?|\bmaiden name\?|\bQ: ",
        r"密保|安全问题|安全[词詞]|暗[语語]|接头[语暗]|找回问题",
    ),
    _label(
        Cue.SENT,
        "password",
        r"\b(?:bank|whatsapp|google|telegram|signal|apple|microsoft|uber|paypal|amazon|instagram|"
        r"facebook|text|sms|authenticator)\b"
        r"[^.!?\n]{0,16}\b(?:sent|says|said|texted|shows|gave|reads)\b(?: me)?",
        r"(?:短信|银行|微信|支付宝|淘宝|系统)[^，。！？\n]{0,8}(?:发来|发了|发给|收到|显示)",
    ),
    _label(
        Cue.PLACE,
        "password",
        rf"\b{_PLACE}\b|\bprompt\b|\b(?:card|cash) machine\b|\batm\b|\btill\b|\bdial\b|\b(?:log|"
        rf"sign)[ -]?in (?:screen|page)\b|\bkeypad\b",
        r"门|锁|柜|箱|卡|网|电梯|报警|键盘|手机|电脑|平板|网盘|服务器|后台|系统",
    ),
    _label(
        Cue.EVERYWHERE,
        "password",
        r"\b(?:use|used|using|reuse|reusing) (?:the )?same (?:one|thing|pw|pass|password|login)\b",
        r"\bsame (?:one|thing|word|phrase|string|combo|code|password|pass|pw|pin|number|numbers|"
        r"digits|login|four digits)\b[^.!?\n]{0,30}\b(?:everywhere|everything|all|every|each|"
        r"anywhere|across)\b",
        r"\b(?:everywhere|for everything|all (?:of )?my accounts|every (?:site|account|app|"
        r"website|login)|all the (?:sites|accounts))\b",
        r"(?:到处|哪儿?都|全都?|所有[^，。！？\n]{0,10}都|统一|一律|每个[^，。！？\n]{0,8}都|通通|"
        r"都是|从.{1,8}都|一直都?)用?(?:的?是?同一个|一样的|这个|同一[串组套]|它)?|通用",
    ),
    _label(
        Cue.ACT,
        "password",
        r"\b(?:type|types|typing|typed|enter|enters|entering|punch|punches|punching|key|keying|"
        r"tap|tapping|press|pressing|hit|hitting|dial|dialing|input|inputs|put|use|using|turn|"
        r"spin|try)\b(?: in| out)?",
        r"\b(?:opens?|unlocks?|unlocking|disarms?|disarm|lets? (?:me|you|us|them|anyone|people) "
        r"in|works? (?:on|for|at))\b",
        r"输入?|按|摁|键入|靠|凭|敲|拨|打开|能?进去|进门|开门|能开|解开|转到|就开|就能进|就行|"
        r"即可|刷",
    ),
    _label(
        Cue.ACCOUNT,
        "bank_account",
        r"\baccount (?:number|no\.?|num|#)",
        r"\ba/c\b(?: no\.?)?",
        r"\bacc\b",
        r"\bsc\b",
        r"\bacc?t\.?(?: no\.?| number| #)?\b",
        r"\bbank account\b",
        r"\b(?:checking|savings|current) account\b",
        r"\brouting(?: number| no\.?)?\b",
        r"\bsort ?code\b",
        r"\biban\b",
        r"\baccount:? (?:is )?",
        r"\bbsb\b",
        r"\bifsc\b",
        r"\baba\b",
        r"银行[账帐][号户]|[账帐]号|[账帐]户|开户行?[账帐]?号|公积金|户口|收款[账帐]|一卡通",
    ),
    _label(
        Cue.ACCOUNT,
        "card",
        r"银行卡号?|信用卡号?|卡号|储蓄卡号?|借记卡号?|工资卡",
        r"\bcard (?:number|no\.?|num|#)\b|\b(?:visa|mastercard|amex|debit card|credit card|"
        r"maestro|discover card|card)\b",
    ),
    _label(
        Cue.NUMBER,
        "identity_number",
        r"\bpassports?\b",
        r"\bdriv(?:er'?s?|ing) licen[sc]es?\b",
        r"\blicen[sc]e (?:number|no\.?)\b",
        r"\bnational (?:id|insurance)\b",
        r"\bid card\b",
        r"\bid (?:number|no\.?)\b",
        r"\btax (?:id|file number|number)\b",
        r"\btfn\b",
        r"\bitin\b",
        r"\bein\b",
        r"\bnino?\b|\bni (?:number|no)\b|\b(?:perso|personalausweis|ausweis|dni|nie|cpf|pesel|bsn|"
        r"nif|curp|hkid|nric|pan)\b(?: (?:nr|no|number|card))?",
        r"\bssn\b",
        r"\bmy soc\b",
        r"\bsocial(?: security)?\b(?: number| no\.?| #)?",
        r"\bmedicare\b",
        r"\bnhs (?:number|no\.?)\b",
        r"\bsin\b(?: number| no\.?)",
        r"\bgreen card\b",
        r"\balien (?:number|registration)\b",
        r"\baadhaar\b",
        r"\bvisa (?:number|no\.?)\b",
        r"\binsurance (?:number|no\.?|id|policy number)\b",
        r"身份证|身分证|证件号|医保|健保|居住证|台胞证|回乡证|通行证|军官证|警官证|护照|驾照|"
        r"驾驶证|社保|税号|签证号|居留|港澳|社会保障号",
    ),
)
