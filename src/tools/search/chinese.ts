/** Chinese words of tool descriptions with their English counterparts, for requests in the other language. */

const table = `
get 获取 取得 读取, fetch 获取 读取, search 搜索 检索 查找, query 查询, find 查找 寻找, list 列表 列出 列举, show 显示 展示, view 查看 浏览, read 读取 阅读, write 写入 编写,
create 创建 新建 建立 生成, generate 生成, add 添加 新增 增加, insert 插入, update 更新 修改, edit 编辑 修改, delete 删除 移除, remove 移除 删除, replace 替换,
copy 复制, move 移动, rename 命名, save 保存 存储, open 打开, close 关闭, start 启动 开始, stop 停止, run 运行 执行, execute 执行, send 发送, receive 接收,
upload 上传, download 下载, import 导入, export 导出, convert 转换, translate 翻译, parse 解析, extract 提取 抽取, analyze 分析, analysis 分析, compare 比较 对比,
calculate 计算, count 统计 计数 数量, sort 排序, filter 过滤 筛选, merge 合并, split 拆分 分割, check 检查, validate 验证 校验, test 测试, monitor 监控 监测,
recommend 推荐, summarize 总结 概括 摘要, summary 摘要 总结 概述, return 返回, set 设置, configure 配置, config 配置, install 安装, connect 连接, login 登录, register 注册,
subscribe 订阅, publish 发布, share 分享, comment 评论, reply 回复, buy 购买, pay 支付, payment 支付 付款, order 订单, book 预订 书籍 图书, schedule 日程 安排,
file 文件, folder 文件 目录, directory 目录, path 路径, content 内容 正文, text 文本 文字, title 标题, name 名称 名字, type 类型, size 大小, format 格式, style 样式 风格,
document 文档, page 页面 网页, slide 幻灯 灯片, presentation 演示 幻灯, template 模板, table 表格, row 行数, column 列名, cell 单元, sheet 工作 表格, chart 图表, graph 图表 图形,
image 图像 图片, picture 图片, photo 照片, video 视频, audio 音频, music 音乐, song 歌曲, movie 电影, film 电影, voice 语音, speech 语音, color 颜色, font 字体, size 尺寸,
web 网页 网络, website 网站, webpage 网页, url 链接 网址, link 链接, internet 互联 网络, browser 浏览, network 网络, server 服务, api 接口, data 数据, database 数据, user 用户,
account 账户 账号, password 密码, key 密钥, token 令牌, permission 权限, message 消息 信息, chat 聊天 对话, email 邮件 邮箱, mail 邮件, phone 电话 手机, contact 联系, group 群组 分组,
project 项目, task 任务, issue 问题, question 问题, answer 回答 答案, code 代码, component 组件, design 设计, interface 界面 接口, library 类库 文档, version 版本, error 错误, log 日志,
model 模型, language 语言, word 单词 词语, keyword 关键 键词, result 结果, information 信息, detail 详情 详细, example 示例 例子, status 状态, history 历史, trend 趋势 热门,
trending 热门 热搜 热点, popular 热门, hot 热门 热点, rank 排行 榜单 排名, ranking 排行 榜单 排名, top 排行 热门, latest 最新, news 新闻 资讯, article 文章, paper 论文 文献, story 故事 新闻, novel 小说,
technology 科技 技术, tech 科技, science 科学, finance 财经 金融, stock 股票 股市, price 价格, market 市场, business 商业, economy 经济, company 公司 企业, product 产品 商品, shop 商品 购物,
shopping 购物 商品 消费, discount 优惠 折扣, cheap 优惠 便宜, deal 优惠, digital 数码 数字, electronics 数码 电子, consumer 消费, game 游戏, player 玩家, card 卡牌 卡片, sport 体育, entertainment 娱乐, society 社会,
health 健康, medical 医疗 医学, education 教育, government 政府, law 法律, politics 政治, culture 文化, life 生活,
weather 天气 气象, forecast 预报, temperature 温度 气温, air 空气, time 时间, date 日期, day 日期, calendar 日历 历法, lunar 农历 阴历, birthday 生日, today 今日 今天, year 年份, month 月份,
map 地图, location 位置 地点, place 地点, address 地址, city 城市, route 路线, distance 距离, navigation 导航, travel 旅游 旅行, trip 旅行 行程, hotel 酒店, flight 航班 机票,
train 火车 列车 高铁 车次, rail 铁路 火车, railway 铁路 火车, station 车站, ticket 车票 余票 票务, bus 公交, car 汽车, transfer 换乘 中转,
food 食物 美食 菜品, dish 菜品 菜肴 菜谱, recipe 菜谱 食谱, cook 烹饪 做菜, meal 膳食 用餐, dinner 晚餐 用餐, ingredient 食材, menu 菜单, restaurant 餐厅, drink 饮料,
fortune 运势, birth 出生 生辰, number 数字 编号, random 随机, unit 单位, math 数学, formula 公式, knowledge 知识, memory 记忆, note 笔记, plan 计划 规划, thinking 思考
`;

/** The words of each group: English first. */
export const chineseTable: readonly string[][] = table.split(",").map((group) => group.split(/\s+/).filter(Boolean));
