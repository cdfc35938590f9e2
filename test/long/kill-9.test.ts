import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { clock } from '../../shared/core/clock.ts';
import { sweepUploads } from '../../shared/files/cleanup.ts';
import { requeueMail } from '../../shared/mail/queue.ts';
import { finalizeHeldSlots, heldSlots } from '../../shared/mail/quota.ts';
import { closeDynamo } from '../../shared/persistence/dynamo.ts';
import { ownerKeyOf } from '../../shared/persistence/item-keys.ts';
import { closeMongo } from '../../shared/persistence/mongo.ts';
import { closeS3 } from '../../shared/persistence/s3.ts';
import { closeSqs } from '../../shared/persistence/sqs.ts';
import { call } from '../support/clients/client.ts';
import { descendantsOf, stillRunning } from '../support/clients/local-start.ts';
import { loadUntilGone, MixedLedger, type MixedTarget } from '../support/clients/mixed-load.ts';
import { type RunningStack, startTestStack } from '../support/clients/start-stack.ts';
import { killHard } from '../support/faults/kill-hard.ts';
import { type Deployment, openDeployment } from '../support/fixtures/deployment.ts';
import { recountAll } from '../support/fixtures/recount.ts';
import { users } from '../support/fixtures/users.ts';

const kills = 12;
const hourMs = 3600_000;

let directory: string;
let stack: RunningStack;
let at: Deployment;
let target: Omit<MixedTarget, 'mailKey'> & { readonly projectId: string; readonly usersProjectId: string };
/** The projects that send emails, with their owners. */
const mailers: { readonly id: string; readonly owner: string }[] = [];
const ledger = new MixedLedger();

interface Made {
  readonly data: {
    readonly _id: string;
    readonly accessToken: string;
    readonly secretKey: string;
    readonly publishableKey: string;
  };
}

/**
 * Creates a developer’s project with a collection. The plan is set in the database, because only the operator can set
 * it.
 */
const newProject = async (email: string, collection: object, plan: string): Promise<Made['data']> => {
  const post = async (where: string, body: unknown, token = ''): Promise<Made['data']> => {
    const answer = await call<Made>(stack.dashboardUrl, 'POST', where, { body, ...(token && { token }) });
    if (answer.status !== 201) throw new Error(`${where} answered ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  const { accessToken } = await post('/api/auth/register', { email, password: 'kept-password' });
  await at.mongo
    .db('control')
    .collection('developers')
    .updateOne({ email }, { $set: { plan, emailVerified: true } });
  const project = await post('/api/projects', { name: 'kept' }, accessToken);
  await post(`/api/projects/${project._id}/collections`, collection, accessToken);
  const settings = { body: { authEnabled: true }, token: accessToken };
  await call(stack.dashboardUrl, 'PATCH', `/api/projects/${project._id}`, settings);
  return project;
};

/**
 * Creates another project that sends emails, because one project would exceed the monthly limit on a fast machine.
 * Returns its secret key.
 */
const newMailer = async (): Promise<string> => {
  const owner = `mails-${mailers.length}@example.com`;
  const { _id, secretKey } = await newProject(owner, { name: 'notes', schema: null }, 'pro');
  mailers.push({ id: _id, owner });
  return secretKey;
};

const start = async (): Promise<void> => {
  stack = await startTestStack(directory);
  at = openDeployment(stack.env);
};

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'basalt-kill-'));
  await start();
  const data = await newProject('data@example.com', { name: 'notes', schema: null }, 'pro');
  const accounts = await newProject('users@example.com', users, 'pro');
  target = {
    secretKey: data.secretKey,
    publishableKey: accounts.publishableKey,
    projectId: data._id,
    usersProjectId: accounts._id,
  };
});

afterAll(async () => {
  closeDynamo();
  closeS3();
  closeSqs();
  await closeMongo();
  await at.close();
  await stack.stop();
  await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

const requireDocuments = async (): Promise<void> => {
  const documents = await at.mongo.db(`p_${target.projectId}`).collection('notes').find().toArray();
  const stored = new Map(documents.map(({ _id, value }) => [String(_id), value as number]));
  expect(ledger.documents.filter((id) => !stored.has(id))).toEqual([]);
  for (const [id, { acknowledged, sent }] of ledger.values) {
    expect(stored.get(id)).toBeGreaterThanOrEqual(acknowledged);
    expect(stored.get(id)).toBeLessThanOrEqual(sent);
  }
};

const requireFiles = async (): Promise<void> => {
  const there = await at.objects(`files/${target.projectId}/`);
  for (const [filePath, { isDeleted }] of ledger.files) {
    expect([filePath, there.has(`files/${filePath}`)]).toEqual([filePath, !isDeleted]);
  }
};

const requireMails = async (): Promise<void> => {
  const rows = await at.control('mailLogs', { projectId: { $in: mailers.map(({ id }) => new ObjectId(id)) } });
  const accepted = new Set(rows.map(({ _id }) => String(_id)));
  expect(ledger.mails.filter((id) => !accepted.has(id))).toEqual([]);
};

const requireAccounts = async (): Promise<void> => {
  const records = await at.mongo.db(`p_${target.usersProjectId}`).collection('users').find().toArray();
  const known = new Set(records.map(({ email }) => email as string));
  expect(ledger.accounts.filter(({ email }) => !known.has(email))).toEqual([]);
  for (const body of ledger.accounts.slice(-3)) {
    const { status } = await call(stack.baseUrl, 'POST', '/api/userAuth/login', { key: target.publishableKey, body });
    expect(status).toBe(200);
  }
};

/** Emails are still being delivered, so a count can mix two moments. It is retried until it is correct. */
const requireCounters = (settled: boolean): Promise<void> =>
  expect.poll(() => recountAll(at, settled), { timeout: 60_000, interval: 500 }).toEqual([]);

const requireAll = async (settled: boolean): Promise<void> => {
  await requireDocuments();
  await requireFiles();
  await requireMails();
  await requireAccounts();
  await requireCounters(settled);
};

const inHours = async (hours: number, act: () => Promise<unknown>): Promise<void> => {
  const now = vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + hours * hourMs);
  await act().finally(() => now.mockRestore());
};

/** Returns the number of acknowledged operations of each kind. */
const acknowledged = ({ documents, files, mails, accounts }: MixedLedger): readonly number[] => [
  documents.length,
  files.size,
  mails.length,
  accounts.length,
];

/** Runs the scheduled jobs of the next day in this process on the last stack. */
const letTheDayPass = async (): Promise<void> => {
  Object.assign(process.env, stack.env);
  await inHours(2, async () => {
    await requeueMail();
    const open = () => at.control('mailLogs', { job: { $exists: true } });
    await expect.poll(open, { timeout: 60_000, interval: 500 }).toEqual([]);
    for (const { id, owner } of mailers) {
      for (const { sk } of await at.items(`p#${id}`)) {
        const month = /^quota#mail#(.+)$/.exec(sk?.S ?? '')?.[1];
        if (month !== undefined) await finalizeHeldSlots(await heldSlots(id, month, ownerKeyOf(owner)));
      }
    }
  });
  await inHours(26, sweepUploads);
};

describe('kill -9 of everything under a mixed load', () => {
  test.each(Array.from({ length: kills }, (_, n) => n + 1))('loses and duplicates nothing, round %i', async (time) => {
    const before = acknowledged(ledger);
    const load = loadUntilGone(stack, { ...target, mailKey: await newMailer() }, ledger);
    // Waits for an acknowledgement of each kind, because only acknowledged data can be lost.
    const unfinished = () => acknowledged(ledger).filter((count, kind) => count === before[kind]);
    await expect.poll(unfinished, { interval: 20 }).toEqual([]);
    await pause(500 + Math.random() * 1000);
    const children = descendantsOf(stack.pid);
    // Every other time only the parent is killed, and its children must notice that.
    for (const pid of [stack.pid, ...(time % 2 === 0 ? children : [])]) killHard(pid);
    await load;
    await expect.poll(() => stillRunning(children), { timeout: 60_000, interval: 50 }).toEqual([]);
    await at.close();
    await start();
    await requireAll(false);
  });

  test('leaves no pending work, no remains and only correct counters after the jobs of a day', async () => {
    await letTheDayPass();
    await requireAll(true);
    const [documents, files, mails, accounts] = acknowledged(ledger);
    process.stdout.write(
      `killed ${kills} times; kept ${documents} documents, ${files} files, ${mails} mails, ${accounts} accounts\n`,
    );
  });
});
