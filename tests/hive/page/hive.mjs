// hive.mjs - a hive for tests of its page: a real server on loopback, builds from tables, and users who report what a plan says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline';

export const draw = () => randomBytes(16).toString('hex');
export const ADMIN = draw() + draw(), READER = draw() + draw();
export const BUILD = 'd0'.repeat(20), LATER = 'e1'.repeat(20), HOSTILE = 'f2'.repeat(20);

export class Hive {
    // On the port that it had, if it is started again.
    async start(deadheat, db, port = 0) {
        writeFileSync('admin', ADMIN + '\n');
        writeFileSync('reader', READER + '\n');
        this.process = spawn(deadheat, ['hive', 'serve', `--db=${db}`, `--listen=127.0.0.1:${port}`, '--admin-token-file=admin',
            '--reader-token-file=reader', '--rate=100000'], { stdio: ['ignore', 'pipe', 'inherit'] });
        const lines = createInterface({ input: this.process.stdout });
        const [line] = await once(lines, 'line');
        this.url = line.replace(/.*serving on /, '').trim();
        this.port = Number(new URL(this.url).port);
        return this;
    }

    async stop(signal = 'SIGTERM') {
        const ended = once(this.process, 'exit');
        this.process.kill(signal);
        await ended;
    }

    async ask(method, path, body, headers = {}) {
        const answer = await fetch(this.url + path, { method, body, headers, redirect: 'manual' });
        const text = await answer.text();
        return { status: answer.status, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : null };
    }

    async admin(method, path, body) {
        const answer = await this.ask(method, path, body, { Authorization: `Bearer ${ADMIN}` });
        if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer.json;
    }

    async addBuild(program, build, file) {
        await this.admin('POST', `/v1/builds?program=${program}&build=${build}`, readFileSync(file));
        this.keys ??= {};
        this.keys[program] ??= (await this.admin('POST', '/v1/keys', JSON.stringify({ program }))).key;
    }

    async agent(program, user, path, body) {
        const answer = await this.ask('POST', path, JSON.stringify(body), { Authorization: `Bearer ${this.keys[program]}`, 'X-Deadheat-User': user });
        if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${answer.text}`);
        return answer.json;
    }

    async poll(program, build, user) {
        return (await this.agent(program, user, '/v1/poll', { build })).task;
    }

    report(program, user, task, result, more = {}) {
        return this.agent(program, user, '/v1/results', { id: draw(), task: task.task, result, run: draw(), waited_us: 900, run_us: 2000000, ...more });
    }

    // The unit whose first access is in this function.
    async unitIn(program, build, name) {
        const { candidates } = await this.admin('GET', `/v1/candidates?program=${program}&build=${build}`);
        return candidates.find(c => c.sites[0].function === name || c.sites[1].function === name);
    }

    // A user with a task of this unit.
    async userOf(program, build, unit) {
        for (;;) {
            const user = draw(), task = await this.poll(program, build, user);
            if (task && task.unit === unit.id) return { user, task };
        }
    }
}

// What came of each unit, by a function of it.
const PLAN = {
    cache_lookup: (hive, p, u, t, n) => hive.report(p, u, t, 'race', { consequence: n % 2 ? 'crash' : 'none', order: n % 2 ? 'primary' : 'alternate' }),
    count_hit: (hive, p, u, t) => hive.report(p, u, t, 'race', { order: 'primary' }),
    queue_push: (hive, p, u, t) => hive.report(p, u, t, 'no-race'),
    set_log_level: (hive, p, u, t) => hive.report(p, u, t, 'not-seen', { saw: 'one-thread' }),
    report_stats: (hive, p, u, t) => hive.report(p, u, t, 'not-seen'),
    buffer_append: (hive, p, u, t) => hive.report(p, u, t, 'inference', { pairs: [{ sites: t.sites, saw: 'met' }] }),
};

const line = (file, n) => `    ${file.replace('.c', '')}_step(${n}); /* line ${n} */`;

// The lines that `hive add --source` would find.
export const sourceOf = sites => ({
    source: sites.map(([file, at]) => ({
        dir: '/src/server', file, from: at - 2,
        lines: [-2, -1, 0, 1, 2].map(d => d ? line(file, at + d) : `\tif (n > 0)\n`.trimEnd() + ` ${file.replace('.c', '')}.count++;`),
    })),
});

export const makeDemo = async hive => {
    await hive.addBuild('server', BUILD, 'demo');
    await hive.admin('POST', `/v1/source?build=${BUILD}`, JSON.stringify(sourceOf([['stats.c', 31], ['queue.c', 24], ['queue.c', 47], ['cache.c', 77], ['cache.c', 103]])));
    const { candidates } = await hive.admin('GET', '/v1/candidates');
    const nameOf = new Map(candidates.map(c => [c.id, c.sites.map(s => s.function).find(f => PLAN[f])]));
    const held = [], seen = {};
    for (let i = 0; i < 60; i++) {
        const user = draw();
        held.push([user, await hive.poll('server', BUILD, user)]);
    }
    for (const [user, task] of held) {
        const name = nameOf.get(task?.unit);
        seen[name] = (seen[name] ?? 0) + 1;
        if (name) await PLAN[name](hive, 'server', user, task, seen[name]);
    }
    await hive.addBuild('server', LATER, 'later');
};
