// looks.mjs - what can be said of a page without eyes. Each function runs in the page and returns a list of what is wrong.

// Text against what is behind it: 4.5 to 1, or 3 to 1 if it is large (WCAG 2.1, 1.4.3).
export const contrast = () => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true }), bad = [];
    const known = new Map();
    const rgba = color => {
        if (!known.has(color)) {
            canvas.clearRect(0, 0, 1, 1);
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
            known.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
        }
        return known.get(color);
    };
    const light = ([r, g, b]) => [r, g, b].map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
        .reduce((sum, x, i) => sum + x * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = element => {
        for (let e = element; e; e = e.parentElement) {
            const color = rgba(getComputedStyle(e).backgroundColor);
            if (color[3] === 255) return color;
        }
        return [255, 255, 255, 255];
    };
    for (const e of document.body.querySelectorAll('*')) {
        if (![...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.nodeValue.trim()) || !e.checkVisibility() || e.closest('.hidden, .skip')) continue;
        const style = getComputedStyle(e), size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
        const [a, b] = [light(rgba(style.color)), light(behind(e))].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
        if (ratio < (large ? 3 : 4.5)) bad.push(`${location.pathname}: ${e.tagName} "${e.textContent.trim().slice(0, 30)}" has a contrast of ${ratio.toFixed(2)}`);
    }
    return bad;
};

// Nothing is wider than the window.
export const fits = () => document.documentElement.scrollWidth > innerWidth ? [`${location.href}: ${document.documentElement.scrollWidth} wide in ${innerWidth}`] : [];

// Landmarks, headings, labels, headers of tables, and ids that are there once.
export const structure = () => {
    const all = selector => [...document.querySelectorAll(selector)], bad = [];
    const need = (what, good) => { if (!good) bad.push(`${location.pathname}: ${what}`); };
    need('one main', all('main').length === 1);
    need('one h1', all('h1').length === 1);
    need('a language and a title', document.documentElement.lang && document.title);
    need('banner and contentinfo', all('#token').length || (all('body > header').length === 1 && all('body > footer').length === 1));
    need('names of navigations', all('nav').every(n => n.getAttribute('aria-label')));
    need('labels', all('input:not([type=hidden]), select').every(x => x.labels.length === 1));
    need('headers of tables', all('table').every(t => t.querySelector('thead th[scope=col]') && [...t.querySelectorAll('tbody tr')].every(r => r.querySelector('th[scope=row]'))));
    need('names of pictures', all('svg').every(s => s.getAttribute('aria-label')));
    need('names of buttons and links', all('button, a').every(b => b.textContent.trim()));
    need('ids once each', new Set(all('[id]').map(x => x.id)).size === all('[id]').length);
    const levels = all('h1, h2, h3').map(h => Number(h.tagName[1]));
    need('order of headings', levels.every((n, i) => !i || n <= levels[i - 1] + 1));
    return bad;
};

// No name has become anything but text.
export const names = () => {
    const bad = [], ours = new Set(['A', 'B', 'BODY', 'BUTTON', 'CAPTION', 'CODE', 'DD', 'DIV', 'DL', 'DT', 'FOOTER', 'FORM', 'H1', 'H2', 'HEAD', 'HEADER', 'HTML', 'INPUT',
        'LABEL', 'LI', 'LINK', 'MAIN', 'META', 'NAV', 'OL', 'OPTION', 'P', 'PRE', 'SCRIPT', 'SECTION', 'SELECT', 'SPAN', 'STRONG', 'TABLE', 'TBODY', 'TD', 'TH', 'THEAD',
        'TIME', 'TITLE', 'TR', 'UL', 'svg', 'rect']);
    if (window.pwned) bad.push(`ran: ${window.pwned}`);
    for (const e of document.querySelectorAll('*')) {
        if (!ours.has(e.tagName) || (e.tagName === 'B' && !e.closest('.tabs'))) bad.push(`element ${e.tagName}`);
        for (const { name } of e.attributes) if (name.startsWith('on') || name === 'style') bad.push(`attribute ${name}`);
        if (e.tagName === 'SCRIPT' && !e.src.startsWith(location.origin)) bad.push('script');
        if (e.tagName === 'A' && !e.href.startsWith(location.origin)) bad.push(`link ${e.href}`);
    }
    // eslint-disable-next-line no-control-regex
    if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/.test(document.documentElement.textContent)) bad.push('a control character');
    return bad;
};
