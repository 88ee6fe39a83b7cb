// page.mjs BROWSER - the cases of tests/cli/html, on the pages in the current directory.
import { chromium } from 'playwright-core';
import { contrast, fits } from '../../hive/page/looks.mjs';

const browser = await chromium.launch({ executablePath: process.argv[2], args: ['--no-sandbox', '--disable-gpu'] });
const wrong = (got, wanted) => JSON.stringify(got) === JSON.stringify(wanted) ? '' : `got ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`;
const complaints = [];
const open = async (name, options = {}) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.on('pageerror', e => complaints.push(`${name}: ${e.message}`));
    page.on('console', m => { if (m.type() === 'error') complaints.push(`${name}: ${m.text()}`); });
    page.on('request', r => { if (!r.url().startsWith('file:')) complaints.push(`${name}: asks for ${r.url()}`); });
    await page.goto(`file://${process.cwd()}/${name}.html`);
    return page;
};
const shot = async (page, name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true });
const groups = page => page.locator('details.v:not([hidden]) > summary > code').allTextContents();
const shown = page => page.locator('.p[id]:not([hidden])').count();
const focused = page => page.evaluate(() => document.activeElement.dataset.variable ?? document.activeElement.id);

const cases = {
    async groups() {
        const page = await open('report');
        const first = await groups(page);
        await page.selectOption('#g', 'file');
        const files = await groups(page);
        await shot(page, 'by-file');
        await page.selectOption('#g', 'variable');
        const variables = await groups(page);
        await page.selectOption('#g', '');
        return wrong([files, variables, await groups(page)], [['many.c', 'other.h'], ['f2', 'f10', 'shared_count'], first]);
    },
    async filter() {
        const page = await open('report');
        await page.selectOption('#g', 'variable');
        await page.fill('#q', 'other.h');
        const some = [await shown(page), await groups(page), await page.textContent('#c')];
        await page.keyboard.press('Escape');
        return wrong([...some, await shown(page), await page.textContent('#c')], [1, ['shared_count'], '1 race', 3, '3 races']);
    },
    async keyboard() {
        const page = await open('report'), at = [];
        for (const key of ['g', 'g', 'j', 'j', 'j', 'j', 'k']) { await page.keyboard.press(key); at.push(await focused(page)); }
        await page.keyboard.press('o');
        const closed = await page.locator('details.v:not([open])').count();
        await page.keyboard.press('/');
        return wrong([at, closed, await focused(page)], [['', '', 'f2', 'f10', 'shared_count', 'shared_count', 'f10'], 1, 'q']);
    },
    async timeline() {
        const page = await open('trace');
        await shot(page, 'timeline');
        const box = i => page.locator('.when tr.at td').nth(i).boundingBox();
        const rows = await page.locator('.when tr.at').allInnerTexts();
        return wrong([rows.map(r => r.replace(/\s+/g, ' ').trim()), (await box(1)).width > 100], [['4 write x', '7 write x'], true]);
    },
    async 'without-script'() {
        const page = await open('report', { javaScriptEnabled: false });
        return wrong([await page.locator('.p[id]').count(), await page.locator('#keys').isVisible()], [3, false]);
    },
};
for (const name of ['report', 'analyze', 'trace', 'static'])
    for (const colorScheme of ['light', 'dark'])
        for (const width of [400, 1280])
            cases[`looks-${name}-${colorScheme}-${width}`] = async () => {
                const page = await open(name, { colorScheme, viewport: { width, height: 900 } });
                await shot(page, `${name}-${colorScheme}-${width}`);
                return [...await page.evaluate(fits), ...await page.evaluate(contrast)].join(' | ');
            };
for (const [name, run] of Object.entries(cases)) {
    const why = await run().catch(e => e.message.split('\n')[0]);
    console.log(why ? `FAIL cli/html/${name}: ${why}` : `ok cli/html/${name}`);
}
console.log(complaints.length ? `FAIL cli/html/complaints: ${complaints.join(' | ')}` : 'ok cli/html/complaints');
await browser.close();
