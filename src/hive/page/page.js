// page.js - what the page can do besides being read: it follows the hive, filters while you type, and can be made light or dark.
//
// The hive writes the whole page. When something has changed, the page asks for itself again and takes over what is different;
// nothing here makes HTML of data.
'use strict';

(() => {
    const root = document.documentElement;
    const PATIENCE_MS = 60000, WAIT_S = 25, AT_LEAST_MS = 1000, AT_MOST_MS = 30000;
    const settings = { // a browser may forbid to store anything
        get: () => { try { return localStorage.getItem('theme') || ''; } catch { return ''; } },
        set: x => { try { localStorage.setItem('theme', x); } catch { /* it holds until the page is left */ } },
    };

    // ---- Light and dark: before anything is painted ----
    let theme = settings.get();
    const showTheme = () => {
        if (theme) root.dataset.theme = theme;
        else delete root.dataset.theme;
        const button = document.getElementById('theme');
        if (!button) return;
        button.textContent = `Theme: ${theme || 'system'}`;
        button.hidden = false;
    };
    showTheme();

    // ---- Taking over what is different ----
    const same = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || '') === (b.id || '');

    const takeAttributes = (from, to) => {
        for (const { name } of [...to.attributes]) if (!from.hasAttribute(name)) to.removeAttribute(name);
        for (const { name, value } of [...from.attributes]) if (to.getAttribute(name) !== value) to.setAttribute(name, value);
    };

    // Elements stay where they can, so that focus, selection and what is typed are kept.
    const take = (from, to) => {
        if (from.isEqualNode(to)) return;
        if (from.nodeType !== Node.ELEMENT_NODE) { to.nodeValue = from.nodeValue; return; }
        takeAttributes(from, to);
        let at = to.firstChild;
        for (const next of [...from.childNodes]) {
            let found = at;
            if (next.id) for (found = at; found && !same(next, found);) found = found.nextSibling;
            if (found && same(next, found)) {
                while (at !== found) { const gone = at; at = at.nextSibling; gone.remove(); }
                if (at.nodeName === 'TR' && !next.isEqualNode(at)) changed.add(next.id || '');
                take(next, at);
                at = at.nextSibling;
            } else {
                if (next.nodeName === 'TR') changed.add(next.id || '');
                to.insertBefore(next, at);
            }
        }
        while (at) { const gone = at; at = at.nextSibling; gone.remove(); }
    };
    // Rows that have changed are marked for a while.
    const MARKED_MS = 4000, marked = new Map();
    let changed = new Set();
    const mark = () => {
        const now = Date.now();
        for (const id of changed) marked.set(id, now + MARKED_MS);
        for (const [id, until] of marked) {
            document.getElementById(id)?.toggleAttribute('data-changed', until > now);
            if (until <= now) marked.delete(id);
        }
        if (changed.size) setTimeout(mark, MARKED_MS + 1);
        changed = new Set();
    };
    const unmark = () => { for (const id of marked.keys()) document.getElementById(id)?.removeAttribute('data-changed'); };

    // ---- Following the hive ----
    let version = 0, fails = 0, asked = 0, stop = false;
    const say = (text, lost) => {
        const live = document.getElementById('live');
        if (!live) return;
        if (live.textContent !== text) live.textContent = text;
        live.classList.toggle('lost', lost);
    };
    const sleep = ms => new Promise(resolve => { setTimeout(resolve, ms); });
    const ask = async (path, what, end = new AbortController()) => {
        const timer = setTimeout(() => end.abort(), PATIENCE_MS);
        try {
            const answer = await fetch(path, { signal: end.signal, credentials: 'same-origin', headers: { Accept: what } });
            const text = await answer.text();
            return { status: answer.status, text };
        } finally {
            clearTimeout(timer);
        }
    };

    // False: we are signed out.
    const refresh = async (address, mine) => {
        const answer = await ask(address, 'text/html');
        if (answer.status === 401) return false;
        if (answer.status >= 500) throw new Error(`${answer.status}`);
        if (mine !== asked) return true; // something else has been asked for since
        const fresh = new DOMParser().parseFromString(answer.text, 'text/html').getElementById('main');
        if (!fresh) throw new Error('no page');
        const q = document.getElementById('q'), typed = q && q === document.activeElement ? q.value : null;
        unmark();
        take(fresh, document.getElementById('main'));
        if (typed !== null) q.value = typed;
        mark();
        return true;
    };

    const leave = () => {
        stop = true;
        say('Signed out: reload the page to sign in.', true);
    };

    // A page that nobody sees asks nothing, and gives its connection back: browsers have few for each host.
    const seen = () => new Promise(resolve => { document.addEventListener('visibilitychange', resolve, { once: true }); });

    const follow = async () => {
        while (!stop) {
            while (document.hidden) await seen();
            const end = new AbortController(), hide = () => { if (document.hidden) end.abort(); };
            document.addEventListener('visibilitychange', hide);
            try {
                const wait = fails ? 0 : WAIT_S; // when it is there again, say so at once
                const answer = await ask(`/v1/changes?since=${version}&wait_s=${wait}`, 'application/json', end);
                if (answer.status === 401 || answer.status === 403) return leave();
                if (answer.status !== 200) throw new Error(`${answer.status}`);
                const now = JSON.parse(answer.text).version;
                if (now !== version || fails) {
                    if (!await refresh(location.href, asked)) return leave();
                    version = now;
                }
                fails = 0;
                say('Live', false);
                await sleep(AT_LEAST_MS);
            } catch {
                if (document.hidden) continue;
                const ms = Math.min(AT_LEAST_MS * 2 ** fails++, AT_MOST_MS);
                say(`The hive does not answer. This is as of the last answer; next try in ${Math.round(ms / 1000)} s.`, true);
                await sleep(ms);
            } finally {
                document.removeEventListener('visibilitychange', hide);
            }
        }
        return undefined;
    };

    // ---- Filtering while you type ----
    const filter = async form => {
        const query = new URLSearchParams([...new FormData(form)].filter(([, value]) => value)), mine = ++asked;
        const address = new URL(form.getAttribute('action') || location.pathname, location.href);
        address.search = query.toString();
        history.replaceState(null, '', address);
        try {
            if (!await refresh(address.href, mine)) leave();
        } catch {
            say('The hive does not answer: the list is not filtered.', true);
        }
    };

    document.addEventListener('DOMContentLoaded', () => {
        let timer;
        showTheme();
        document.getElementById('theme')?.addEventListener('click', () => {
            theme = { '': 'light', light: 'dark', dark: '' }[theme] ?? '';
            settings.set(theme);
            showTheme();
        });
        if (!document.getElementById('live')) return;
        root.dataset.follows = ''; // forms need no button then
        document.addEventListener('input', e => {
            const { form } = e.target;
            if (!form || form.id !== 'filter') return;
            clearTimeout(timer);
            timer = setTimeout(() => filter(form), e.target.id === 'q' ? 200 : 0);
        });
        document.addEventListener('submit', e => {
            if (e.target.id !== 'filter') return;
            e.preventDefault();
            clearTimeout(timer);
            filter(e.target);
        });
        follow();
    });
})();
