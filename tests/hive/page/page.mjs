// page.mjs DEADHEAT BROWSER - the cases of tests/hive/page: a real hive, and a real browser that looks at its page. ONLY=REGEX runs some.
import { chromium } from 'playwright-core';
import { ADMIN, BUILD, HOSTILE, Hive, LATER, READER, makeDemo } from './hive.mjs';
import { contrast, fits, names, structure } from './looks.mjs';

const [deadheat, executablePath] = process.argv.slice(2);
const wrong = (got, wanted) => JSON.stringify(got) === JSON.stringify(wanted) ? '' : `got ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`;
const hive = await new Hive().start(deadheat, 'hive.db');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const complaints = []; // of all pages: errors of scripts, and what the policy of contents has forbidden

const open = async (path = '/', options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(60000);
    const page = await context.newPage();
    page.on('pageerror', e => complaints.push(`${path}: ${e.message}`));
    page.on('console', m => { if (m.type() === 'error' && !m.text().startsWith('Failed to load resource')) complaints.push(`${path}: ${m.text()}`); });
    page.on('dialog', d => { complaints.push(`${path}: ${d.message()}`); d.dismiss(); });
    await page.goto(hive.url + path);
    return page;
};
// By hand once for each token: the cookie does for all others.
const cookies = {};
const signIn = async (path, options, token = ADMIN) => {
    if (cookies[token]) return open(path, { ...options, storageState: { cookies: cookies[token], origins: [] } });
    const page = await open(path, options);
    await page.fill('#token', token);
    await page.press('#token', 'Enter');
    await page.waitForSelector('header nav');
    cookies[token] = await page.context().cookies();
    return page;
};
const live = page => page.waitForFunction(() => document.getElementById('live').textContent === 'Live');
const shot = async (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
const rows = page => page.locator('table.races tbody tr').count();

const cases = {
    async 'sign-in'() {
        const page = await open(`/?verdict=true-race&q=a%26b+"c`);
        await page.fill('#token', 'no token of this hive');
        await page.click('button');
        const refused = await page.locator('[role=alert]').textContent();
        await page.fill('#token', ` ${ADMIN}\n`.trim());
        await page.press('#token', 'Enter');
        await page.waitForSelector('h1:has-text("Possible races")');
        const [cookie] = await page.context().cookies(), at = new URL(page.url());
        await page.click('text=Sign out');
        await page.waitForSelector('#token');
        return wrong([refused, cookie.httpOnly, cookie.sameSite, at.searchParams.get('verdict'), at.searchParams.get('q'), (await page.context().cookies()).length],
            ['This is not a token of this hive.', true, 'Lax', 'true-race', 'a&b "c', 0]);
    },

    async 'who-may-look'() {
        const page = await signIn('/', {}, READER), [cookie] = await page.context().cookies();
        const session = { Cookie: `${cookie.name}=${cookie.value}` }, body = JSON.stringify({ program: 'server', candidate: '0'.repeat(16) });
        const later = cookie.value.replace(/^\d+/, n => Number(n) + 1), other = cookie.value.slice(0, -1) + (cookie.value.endsWith('0') ? '1' : '0');
        const ask = async (...args) => (await hive.ask(...args)).status;
        return wrong([
            await ask('GET', '/'), await ask('GET', '/', undefined, session), await ask('GET', '/v1/status', undefined, session),
            await ask('GET', '/', undefined, { Cookie: `${cookie.name}=${later}` }), await ask('GET', '/', undefined, { Cookie: `${cookie.name}=${other}` }),
            await ask('GET', '/users', undefined, { Authorization: `Bearer ${READER}` }), await ask('GET', '/v1/users', undefined, { Authorization: `Bearer ${READER}` }),
            await ask('POST', '/v1/forget', body, session), await ask('POST', '/v1/forget', body, { Authorization: `Bearer ${READER}` }),
            await ask('POST', '/signin', `token=${ADMIN}`, { 'Sec-Fetch-Site': 'cross-site' }),
        ], [401, 200, 200, 401, 401, 200, 200, 401, 401, 403]);
    },

    async 'no-way-out'() { // of the hive, by signing in
        const to = async next => (await hive.ask('POST', '/signin', `next=${encodeURIComponent(next)}&token=${ADMIN}`)).headers.get('location');
        return wrong([await to('/users?after=1'), await to('//evil.example/'), await to('/\\evil.example'), await to('https://evil.example/'), await to('/x\r\nSet-Cookie: a=b')],
            ['/users?after=1', '/', '/', '/', '/']);
    },

    async 'headers'() {
        const admin = { Authorization: `Bearer ${ADMIN}` }, first = await hive.ask('GET', '/', undefined, admin);
        const again = await hive.ask('GET', '/', undefined, { ...admin, 'If-None-Match': first.headers.get('etag') });
        const css = first.text.match(/href="(\/page\/[^"]*\.css)"/)[1], style = await hive.ask('GET', css);
        const policy = first.headers.get('content-security-policy');
        return wrong([again.status, again.text, first.headers.get('cache-control'), /unsafe|\*|http/.test(policy), policy.includes("default-src 'none'"),
            style.status, style.headers.get('cache-control').includes('immutable'), (await hive.ask('GET', '/page/0123456789abcdef/page.css')).status,
            /<script>|<style|style="|\son[a-z]+="|src="http|href="http/.test(first.text)],
        [304, '', 'private, no-cache', false, true, 200, true, 404, false]);
    },

    async 'verdicts-and-filters'() {
        const page = await signIn('/');
        const verdictOf = async name => (await page.locator(`table.races tr:has-text("${name}") .verdict`).first().textContent()).slice(2);
        const seen = [];
        for (const name of ['cache[].entry', 'stats.hits', 'stats.bytes', 'log_level']) seen.push(await verdictOf(name));
        const first = await page.locator('table.races tbody tr').first().textContent();
        await page.click('nav.tabs a:has-text("True races")');
        const races = await rows(page);
        await page.goto(`${hive.url}/?build=${LATER}`);
        const carried = await page.locator('tr:has-text("stats.hits")').textContent();
        const moved = await page.locator('tr:has-text("queue.head")').textContent();
        await page.goto(`${hive.url}/?kind=bundle`);
        return wrong([seen, first.includes('crashes'), races, carried.includes('from another build'), moved.includes('nothing reported yet'), await rows(page),
            (await hive.ask('GET', '/?build=00000000', undefined, { Authorization: `Bearer ${ADMIN}` })).status,
            (await hive.ask('GET', '/?verdict=maybe', undefined, { Authorization: `Bearer ${ADMIN}` })).status],
        [['true race', 'true race', 'unknown', 'likely false'], true, 2, true, true, 1, 404, 400]);
    },

    async 'search'() {
        const page = await signIn('/'), all = await rows(page);
        await page.fill('#q', 'QUEUE_push 47');
        await page.fill('#q', 'QUEUE_push queue.c');
        await page.waitForFunction(() => document.querySelectorAll('table.races tbody tr').length === 2);
        const address = new URL(page.url()).searchParams.get('q'), focused = await page.evaluate(() => document.activeElement.id);
        await page.fill('#q', 'nothing_has_this_name');
        await page.waitForSelector('.none');
        await page.fill('#q', '');
        await page.waitForFunction(n => document.querySelectorAll('table.races tbody tr').length === n, all);
        return wrong([address, focused], ['QUEUE_push queue.c', 'q']);
    },

    async 'race'() {
        const unit = await hive.unitIn('server', BUILD, 'cache_lookup'), page = await signIn(`/races/server/${unit.id}?build=${BUILD}`);
        const text = await page.locator('main').innerText(), here = await page.locator('.line.here').allInnerTexts();
        const parts = ['Race on cache[].entry', 'This race is real', 'in both orders', 'Consequence: crash', 'After other races of this program it did so in 0 of', 'cache_evict', 'cache.c:103', 'free of 8 bytes',
            'Orders tried', 'Users and overhead', 'Race, crash', 'worker', '0.04%'];
        const other = await hive.unitIn('server', BUILD, 'queue_push');
        await page.goto(`${hive.url}/races/server/${other.id}?build=${BUILD}`);
        const sure = await page.locator('#confidence').textContent(), locks = await page.locator('.side').first().innerText();
        return wrong([parts.filter(x => !text.includes(x)), here.length, here[0].includes('77') && here[0].includes('cache.count++'),
            /^\d+ executions? reached both .* at most [\d.]+% of them .* 95% confidence/.test(sure), locks.includes('queue_lock'),
            (await hive.ask('GET', `/races/server/${'0'.repeat(16)}`, undefined, { Authorization: `Bearer ${ADMIN}` })).status],
        [[], 2, true, true, true, 404]);
    },

    async 'source-on-request-only'() {
        const post = async source => (await hive.ask('POST', `/v1/source?build=${BUILD}`, JSON.stringify({ source }), { Authorization: `Bearer ${ADMIN}` })).status;
        const line = { dir: '/src/server', file: 'log.c', from: 12, lines: ['x'] };
        const before = (await hive.admin('GET', '/v1/status')).events;
        const refused = [await post([{ ...line, from: 100 }]), await post([{ ...line, file: '/etc/passwd' }]), await post([{ ...line, lines: ['x'.repeat(401)] }]),
            await post([line, line]), await post([{ ...line, lines: Array(50).fill('x') }]), await post('x'), await post([{ ...line, from: -1 }])];
        const unit = await hive.unitIn('server', LATER, 'on_signal'), page = await signIn(`/races/server/${unit.id}`);
        return wrong([refused, (await hive.admin('GET', '/v1/status')).events === before, await page.locator('pre').count(),
            await page.locator('text=No source').count()], [Array(7).fill(422), true, 0, 2]);
    },

    async 'live'() {
        const unit = await hive.unitIn('server', BUILD, 'on_signal'), { user, task } = await hive.userOf('server', BUILD, unit);
        const page = await signIn(`/?build=${BUILD}&q=shutting`), race = await signIn(`/races/server/${unit.id}`);
        await Promise.all([live(page), live(race)]);
        await page.evaluate(() => { window.same = true; document.getElementById('q').focus(); });
        await hive.report('server', user, task, 'race', { consequence: 'hang' });
        await page.waitForSelector('tr[data-changed] .verdict.true-race');
        await race.waitForSelector('text=Consequence: hang');
        return wrong([await page.evaluate(() => [window.same, document.activeElement.id, document.getElementById('q').value])], [[true, 'q', 'shutting']]);
    },

    async 'signed-out'() {
        const page = await signIn('/'), unit = await hive.unitIn('server', BUILD, 'report_stats');
        await live(page);
        await page.context().clearCookies();
        await hive.userOf('server', BUILD, unit); // something happens
        await page.waitForSelector('#live.lost:has-text("Signed out")');
        return wrong(await rows(page) > 0, true);
    },

    async 'hive-away'() {
        const page = await signIn('/'), { port } = hive;
        await live(page);
        await hive.stop();
        await page.waitForSelector('#live.lost:has-text("does not answer")');
        const kept = await rows(page);
        await hive.start(deadheat, 'hive.db', port);
        await live(page);
        return wrong([kept, await page.evaluate(() => document.getElementById('live').classList.contains('lost'))], [await rows(page), false]);
    },

    async 'by-keyboard'() {
        const page = await signIn('/'), active = () => page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.id);
        await page.reload();
        await page.keyboard.press('Tab');
        const skip = await active();
        await page.keyboard.press('Enter');
        const main = await page.evaluate(() => document.activeElement.id);
        for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement.id !== 'q'); i++) await page.keyboard.press('Tab');
        await page.keyboard.type('cache_evict');
        await page.waitForFunction(() => document.querySelectorAll('table.races tbody tr').length === 1);
        for (let i = 0; i < 30 && await page.evaluate(() => !document.activeElement.closest('table')); i++) await page.keyboard.press('Tab');
        const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), link = await active();
        await page.keyboard.press('Enter');
        await page.waitForSelector('h1:has-text("Race on")');
        return wrong([skip, main, outline, link], ['Skip to the content', 'main', 'solid', 'cache[].entry']);
    },

    async 'theme'() {
        const page = await signIn('/', { colorScheme: 'dark' }), back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const dark = await back();
        await page.click('#theme');
        const light = await back();
        await page.reload();
        const kept = await back(), words = await page.locator('#theme').textContent();
        await page.click('#theme');
        await page.click('#theme');
        return wrong([dark !== light, kept === light, words, await back() === dark, await page.locator('#theme').textContent()],
            [true, true, 'Theme: light', true, 'Theme: system']);
    },

    async 'without-javascript'() {
        const page = await signIn('/', { javaScriptEnabled: false });
        const theme = await page.locator('#theme').isVisible();
        await page.fill('#q', 'cache_evict');
        await page.click('button:has-text("Show")');
        const found = await rows(page);
        await page.click('table.races a');
        const text = await page.locator('main').innerText();
        await page.selectOption('#build', LATER);
        await page.click('button:has-text("Show")');
        return wrong([theme, found, text.includes('This race is real'), (await page.locator('main').innerText()).includes('All results are of other builds')],
            [false, 1, true, true]);
    },

    async 'hostile-names'() {
        await hive.addBuild('evil', HOSTILE, 'hostile');
        const lines = ['<script>window.pwned=7</script>', '\u001b[2J\u202e\u0007\ttab', '</pre><img src=x onerror=window.pwned=8>'];
        await hive.admin('POST', `/v1/source?build=${HOSTILE}`, JSON.stringify({ source: [{ dir: '/src/server', file: '<i>.c', from: 20, lines }] }));
        const page = await signIn('/?program=evil'), shown = await page.locator('table.races tbody th a').allInnerTexts(), bad = [];
        for (const link of await page.locator('table.races tbody th a').evaluateAll(all => all.map(a => a.href))) {
            await page.goto(link);
            bad.push(...await page.evaluate(names));
        }
        const { id } = (await hive.admin('GET', '/v1/candidates?program=evil')).candidates[0];
        await page.goto(`${hive.url}/races/evil/${id}`);
        const source = await page.locator('pre').first().locator('.line > span:last-child').allTextContents();
        await page.goto(`${hive.url}/?program=evil&q=${encodeURIComponent('"><script>window.pwned=9</script>\u202e')}`);
        bad.push(...await page.evaluate(names));
        return wrong([shown.slice(0, 7), bad, source],
            [['<script>window.pwned=1</script>', '"><img src=x onerror="window.pwned=2">', "'onmouseover='window.pwned=3",
                '</title></head><body onload=window.pwned=4>', '&lt;b&gt;&#60;i&#62;', 'abc ??? zyx ??? cba ??', '\ufffd\ufffd\ufffdlatin\ufffd'], [],
                [`${lines[0]}\n`, '?[2J????\ttab\n', `${lines[2]}\n`]]);
    },

    async 'nothing-inline-runs'() { // even if a name got past the escapes
        const page = await signIn('/');
        const ran = await page.evaluate(async () => {
            const forbidden = new Promise(resolve => { document.addEventListener('securitypolicyviolation', e => resolve(e.effectiveDirective)); });
            document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }));
            return [await forbidden, window.ran ?? false];
        });
        complaints.splice(0, complaints.length, ...complaints.filter(x => !x.includes('Content Security Policy')));
        return wrong(ran, ['script-src-elem', false]);
    },

    async 'looks'() {
        const unit = await hive.unitIn('server', BUILD, 'cache_lookup'), bad = [];
        const paths = ['/', '/users', `/races/server/${unit.id}?build=${BUILD}`, '/?program=evil', '/?q=nothing'];
        await hive.addBuild('evil', HOSTILE, 'hostile'); // its names are long
        for (const [name, options] of Object.entries({
            light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, phone: { colorScheme: 'light', viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
        })) {
            const look = async (page, path) => {
                bad.push(...await page.evaluate(contrast), ...await page.evaluate(fits), ...await page.evaluate(structure));
                await shot(page, `${name}-${paths.indexOf(path)}`);
            };
            await look(await open('/', options), 'sign in');
            const page = await signIn(paths[0], options);
            for (const path of paths) {
                if (path !== paths[0]) await page.goto(hive.url + path);
                await page.waitForSelector(':root[data-follows]');
                await look(page, path);
            }
        }
        return wrong(bad.slice(0, 5), []);
    },

    async 'no-errors'() {
        return wrong(complaints, []);
    },
};

await makeDemo(hive);
for (const [name, run] of Object.entries(cases).filter(([x]) => RegExp(process.env.ONLY ?? '').test(x))) {
    let why;
    try {
        why = await run();
    } catch (e) {
        why = e.message.split('\n').slice(0, 4).join(' | ');
    }
    console.log(why ? `FAIL hive/page/${name}: ${why.slice(0, 900)}` : `ok hive/page/${name}`);
    for (const context of browser.contexts()) await context.close();
}
await browser.close();
await hive.stop();
