import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { type Child, startChild } from '../../infra/local/child.ts';
import { clock } from '../../shared/core/clock.ts';
import { mailLogs } from '../../shared/mail/log.ts';
import { requeueMail } from '../../shared/mail/queue.ts';
import { finalizeHeldSlots, heldSlots, mailUsage } from '../../shared/mail/quota.ts';
import { sendMail } from '../../shared/mail/send.ts';
import type { Project } from '../../shared/projects/project.ts';
import { plainEnvironment } from '../support/clients/plain-environment.ts';
import type { HttpFault } from '../support/faults/fault.ts';
import { HttpProxy, type HttpRequest } from '../support/faults/http-proxy.ts';
import { killHard } from '../support/faults/kill-hard.ts';
import { newProject } from '../support/fixtures/project.ts';
import { stillQueue } from '../support/fixtures/still-queue.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';

const count = 500;
const workers = 3;
const killEveryMs = 8000;
const mostKills = 12;
const limitMs = 600_000;
/** Longer than the messages of a killed run stay hidden from the other runs. */
const stillMs = 60_000;

let provider: HttpProxy;
let project: Project;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  const stack = inject('stack').env;
  provider = await HttpProxy.start(stack.MAIL_PROVIDER_URL ?? '');
  env = {
    MAIL_PROVIDER_URL: provider.url,
    MAIL_QUEUE_URL: await stillQueue(stack.AWS_ENDPOINT_URL ?? ''),
    MAIL_RETRY_SECONDS: '0',
  };
  Object.assign(process.env, env);
});
afterAll(() => provider.close());

/** The faults of a request, with their percentages. */
const faults: readonly (readonly [HttpFault, number])[] = [
  [429, 8],
  [500, 8],
  ['cut', 6],
  ['lose the answer', 8],
  ['never answer', 1],
];

/** The fault of every request for some emails: 422 for one in 64, 503 for another. */
const never = (key: string): HttpFault | undefined => {
  const place = Number.parseInt(key.slice(-2), 16) % 64;
  return place === 0 ? 422 : place === 1 ? 503 : undefined;
};

const faultOf = ({ headers }: HttpRequest): HttpFault | undefined => {
  const refused = never(String(headers['idempotency-key']));
  if (refused !== undefined) return refused;
  let chance = Math.random() * 100;
  for (const [fault, share] of faults) {
    chance -= share;
    if (chance < 0) return fault;
  }
  return undefined;
};

const script = path.join(import.meta.dirname, '../support/clients/mail-worker.ts');

const startWorker = (onExit: () => void): Child =>
  startChild({
    name: 'a mail worker',
    command: process.execPath,
    args: [script],
    env: { ...plainEnvironment(), ...inject('stack').env, ...env },
    onExit,
  });

/** Runs workers, kills one every few seconds up to twelve times, and replaces it. */
const keepKilling = (): { readonly stop: () => Promise<number> } => {
  const running = new Set<Child>();
  let stopped = false;
  const start = (): void => {
    const child = startWorker(() => {
      running.delete(child);
      if (!stopped) start();
    });
    running.add(child);
  };
  for (let worker = 0; worker < workers; worker++) start();
  let killed = 0;
  const timer = setInterval(() => {
    const [oldest] = running;
    if (oldest) killHard(oldest.pid);
    killed++;
    if (killed === mostKills) clearInterval(timer);
  }, killEveryMs);
  return {
    stop: async () => {
      clearInterval(timer);
      stopped = true;
      await Promise.all([...running].map((child) => child.stop()));
      return killed;
    },
  };
};

const mine = () => ({ projectId: new ObjectId(project.id) });
const left = () => mailLogs.countDocuments({ ...mine(), job: { $exists: true } });

/** Re-enqueues lost and abandoned emails as if this many hours had passed. */
const requeueAfter = async (hours: number): Promise<void> => {
  const now = vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + hours * 3600_000);
  try {
    await requeueMail();
  } finally {
    now.mockRestore();
  }
};

/** Makes the remaining emails look a day old, so that those that always fail become `failed`. */
const age = () =>
  mailLogs.updateMany(
    { ...mine(), job: { $exists: true } },
    { $set: { createdAt: new Date(Date.now() - 24 * 3600_000) } },
  );

/** Advances the clock by hours, every few seconds, until no email is pending. */
const settleAll = async (): Promise<void> => {
  const end = performance.now() + limitMs;
  let [before, since] = [count, performance.now()];
  for (let hours = 3; performance.now() < end; hours += 3) {
    await pause(5000);
    const now = await left();
    if (now === 0) return;
    if (now !== before) [before, since] = [now, performance.now()];
    if (performance.now() - since > stillMs) await age();
    await requeueAfter(hours);
  }
};

test(`each of ${count} accepted mails is sent exactly once, or fails and releases its slot`, async ({
  onTestFinished,
}) => {
  project = await domainProject(await newProject());
  provider.meet(faultOf);
  const chaos = keepKilling();
  onTestFinished(async () => void (await chaos.stop()));
  const begin = performance.now();
  const ids: string[] = [];
  for (let start = 0; start < count; start += 20) {
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sendMail(project, {
          to: `chaos-${start + index}@${project.id}.example.com`,
          subject: 'Chaos',
          text: 'Hi',
        }),
      ),
    );
    ids.push(...accepted.map(({ id }) => id));
  }
  await settleAll();
  const kills = await chaos.stop();

  expect(await left()).toBe(0);
  const rows = await mailLogs.find(mine());
  const response = await fetch(`${inject('stack').env.MAIL_PROVIDER_URL}/emails`);
  const { data } = (await response.json()) as { readonly data: readonly { readonly to: readonly string[] }[] };
  const times = new Map<string, number>();
  for (const { to } of data) for (const address of to) times.set(address, (times.get(address) ?? 0) + 1);

  const failed = rows.filter(({ status }) => status === 'failed');
  const sent = rows.filter(({ status }) => status === 'sent' || status === 'delivered');
  const seconds = Math.round((performance.now() - begin) / 1000);
  const requests = provider.asked.length;
  process.stdout.write(
    `${count} mails: ${sent.length} sent once, ${failed.length} failed with their slot back; ${requests} requests, ${kills} runs killed, ${seconds} s\n`,
  );
  expect(ids).toHaveLength(count);
  expect(sent.length + failed.length).toBe(count);
  for (const { to } of sent) expect([to[0], times.get(to[0] ?? '')]).toEqual([to[0], 1]);
  for (const { to } of failed) expect([to[0], times.get(to[0] ?? '') ?? 0]).toEqual([to[0], 0]);
  expect(failed.length).toBeGreaterThan(0);
  // A run killed after it recorded an email as sent leaves a marked slot, which cleanup finalizes later.
  const months = new Set(rows.map(({ createdAt }) => createdAt.toISOString().slice(0, 7)));
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + 3600_000);
  for (const month of months)
    expect(await finalizeHeldSlots(await heldSlots(project.id, month, project.ownerKey))).toBe(0);
  vi.restoreAllMocks();
  for (const month of months) expect((await heldSlots(project.id, month)).ids).toEqual([]);
  expect(await mailUsage(project)).toMatchObject({ used: sent.length });
});
