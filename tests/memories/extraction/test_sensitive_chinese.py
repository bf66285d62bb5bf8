"""Secrets in Chinese sentences: refused however the digits are written; the rest is kept."""

import pytest

from memories.screening import secret_search
from tests.memories.extraction.bundled_reading import contents, extract
from tests.memories.extraction.readings import FakeReader, statement

# fmt: off
# (message, the secret in it)
SECRETS = [
    ("WiFi密码八个八", "八个八"),
    ("开机密码一二三四五六", "一二三四五六"),
    ("密码是 六六八八九九，别告诉别人", "六六八八九九"),
    ("我家门锁密码是零三一七八五", "零三一七八五"),
    ("支付密码：8 8 2 6 1 5", "8 8 2 6 1 5"),
    ("保险柜密码左三右七左九", "左三右七左九"),
    ("手机锁屏密码是２５８０７９", "２５８０７９"),
    ("验证码 482913，马上过期", "482913"),
    ("刚收到的验证码是739 204", "739 204"),
    ("短信码是556731，帮我填", "556731"),
    ("我的密码就设的妈妈生日19580312", "19580312"),
    ("邮箱密码我改成了Lotus_2291", "Lotus_2291"),
    ("登录名lily，密码lily@2020", "lily@2020"),
    ("账号zhangwei88密码zw880214", "zw880214"),
    ("帐号：admin 密碼：P@ss99word", "P@ss99word"),
    ("用户名root口令Toor#8765", "Toor#8765"),
    ("公司VPN的口令是winter-is-9", "winter-is-9"),
    ("我网银U盾PIN是905512", "905512"),
    ("取款密码 041277 别忘了", "041277"),
    ("密码:qwer7890，我老忘", "qwer7890"),
    ("身份证330106198704123014", "330106198704123014"),
    ("我身份证号码是330106 198704 123014", "330106 198704 123014"),
    ("身份证号是３３０１０６１９８７０４１２３０１4", "３３０１０６１９８７０４１２３０１4"),
    ("我儿子的身份证 510104199511088828 要报名用", "510104199511088828"),
    ("银行卡号6222029015443424642", "6222029015443424642"),
    ("工资卡是建行的，6217 0051 6457 6002 045", "6217 0051 6457 6002 045"),
    ("卡号6222-0290-1544-3424-642，开户行工行", "6222-0290-1544-3424-642"),
    ("信用卡４３９２２２２９５８７４９４８１，有效期09/28", "４３９２２２２９５８７４９４８１"),
    ("信用卡安全码是 318", "318"),
    ("背面那三位数是 905", "905"),
    ("我护照号E83920175", "E83920175"),
    ("护照是EJ4471820，明年到期", "EJ4471820"),
    ("港澳通行证C98213345", "C98213345"),
    ("驾驶证档案编号330199887766", "330199887766"),
    ("社保号 3301058827719", "3301058827719"),
    ("openai的key是sk-proj-a8Kd92mZpQ7xLw3RtYu1Vb6N", "sk-proj-a8Kd92mZpQ7xLw3RtYu1Vb6N"),
    ("阿里云AK：LTAI5tQw8ErTyUiOpAsDfGh", "LTAI5tQw8ErTyUiOpAsDfGh"),
    ("我的token是ghp_x9Y8z7W6v5U4t3S2r1Q0p9O8n7M6l5K4", "ghp_x9Y8z7W6v5U4t3S2r1Q0p9O8n7M6l5K4"),
    ("密钥放这：8f3a-77bc-19de-440a", "8f3a-77bc-19de-440a"),
    ("微信支付商户秘钥9d2Kf83jLq0Zx71M", "9d2Kf83jLq0Zx71M"),
    ("助记词是 apple river sun dance cloud stone", "apple river sun dance cloud stone"),
    ("家里智能锁的密码跟我生日一样0817#", "0817#"),
    ("门禁密码改成5791*了", "5791*"),
    ("单元门密码2468#，快递放门口", "2468#"),
    ("快递柜取件码是 6-3-8821", "6-3-8821"),
    ("我住和平路18号3单元1202室", "和平路18号3单元1202室"),
    ("家在朝阳区望京街道阜通东大街6号院4号楼2306", "阜通东大街6号院4号楼2306"),
    ("收货地址：浙江省杭州市余杭区文一西路969号2幢501", "文一西路969号2幢501"),
    ("Apple ID密码是Momo2019!", "Momo2019!"),
    ("淘宝密码和京东一样都是tt13579", "tt13579"),
    ("解锁图案不会画，数字密码是777520", "777520"),
    ("压缩包密码：tianwang2024", "tianwang2024"),
    ("我们家路由器后台admin/hw@4455", "hw@4455"),
    ("记住我的支付宝密码990817", "990817"),
    ("帮我记一下银行卡密码是280913", "280913"),
    ("密碼係dragon77，唔好話人知", "dragon77"),
    ("提款卡密碼是４４１９０２", "４４１９０２"),
    ("健保卡號 000012345678", "000012345678"),
    ("數據庫密碼 Tw#7788aa", "Tw#7788aa"),
    ("我的密码一直没变还是hello1995", "hello1995"),
    ("wifi是HOME_5G密码是小狗的名字加2023，puppy2023", "puppy2023"),
    ("汇款到6228480402564890018", "6228480402564890018"),
    ("我公积金账号是201187654321", "201187654321"),
    ("邮箱授权码：kxvtqzplmwabcdef", "kxvtqzplmwabcdef"),
]

HARMLESS = [
    "密码学这门课我学了两年", "密码要8位以上才行", "密码改过3次了", "我的密码用了10年了",
    "又把密码忘了", "验证码一直收不到",
    "身份证过期了要换", "银行卡丢了", "护照还没办下来", "我在中山路18号上班", "我住3号楼",
    "坐2号线到人民广场", "口令红包抢了88块",
    "我家在和平路附近", "暗号都对不上", "我有3个闺女", "2019年来的杭州",
    "上海路12号那家店的包子好吃", "key是主题要明确", "我是2班的15号",
]

# (message, its category, what is kept beside the secret)
KEPT = [
    ("支付密码是 739 105，另外我对虾过敏", "password", "对虾过敏"),
    ("身份证号是512501197203035172，我在泸州开茶馆", "identity_number", "泸州"),
    ("卡号6222021234567890128，我下周一去三亚出差", "card", "三亚"),
    ("我家门锁密码四六零九二七，养了一只柯基", "password", "柯基"),
    ("我住在丰台区方庄芳古园二区7号楼4单元501室，养了两只猫", "address", "猫"),
]
# fmt: on


@pytest.mark.parametrize(("message", "secret"), SECRETS)
def test_a_secret_in_chinese_is_refused_and_kept_nowhere(message: str, secret: str) -> None:
    found = extract(message)

    assert found.refused
    assert _bare(secret) not in _bare(repr((found.candidates, found.forget)))


@pytest.mark.parametrize("message", HARMLESS)
def test_what_only_looks_like_a_secret_is_left_alone(message: str) -> None:
    assert secret_search.find(message) == ()


@pytest.mark.parametrize(("message", "category", "kept"), KEPT)
def test_the_statement_beside_a_secret_is_kept(message: str, category: str, kept: str) -> None:
    told = FakeReader()
    told.hears(message, statement(message, message))
    found = extract(message, told=told)

    assert [refused.category for refused in found.refused] == [category]
    assert any(kept in content for content in contents(found))


def _bare(text: str) -> str:
    return text.replace(" ", "").replace("-", "")
