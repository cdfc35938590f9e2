import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PythonTools, pythonTools } from '../../support/clients/python-tools.ts';
import { newProject } from '../../support/fixtures/project.ts';
import { type Received, Receiver, verify } from '../../support/fixtures/receiver.ts';
import { arrived, makeWebhook, onWebhooksOf } from '../../support/fixtures/webhooks.ts';

// Verifies deliveries with the published libraries of the Standard Webhooks specification.
const run = promisify(execFile);
const here = import.meta.dirname;

let python: PythonTools;
let receiver: Receiver;
let folder: string;

beforeAll(async () => {
  python = await pythonTools(path.join(here, 'requirements.txt'));
  receiver = await Receiver.start();
  folder = await mkdtemp(path.join(tmpdir(), 'basalt-verifiers-'));
});

afterAll(async () => {
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});

interface Case {
  readonly secret: string;
  readonly received: Received;
  readonly expected: string;
}

const deliveries = async (): Promise<readonly Case[]> => {
  const project = await newProject([{ name: 'posts', changes: true }]);
  const webhook = await makeWebhook(project, receiver, { events: ['document.created'] });
  const { secret } = (await onWebhooksOf(project)('POST', `/${webhook._id}/rotate-secret`)).body.data;
  await onWebhooksOf(project)('POST', `/${webhook._id}/test`);
  await project.api('POST', '/api/data/posts', { body: { text: 'Grüße, 世界 🪨', n: 1.5 } });
  const types = ['webhook.test', 'document.created'];
  const [tested, made] = await Promise.all(types.map((type) => arrived(receiver, ({ body }) => body.type === type)));
  if (!tested || !made) throw new Error('Both have arrived');
  const another = `whsec_${btoa('x'.repeat(24))}`;
  const at = (seconds: number) => ({ ...made.headers, 'webhook-timestamp': String(seconds) });
  return [
    { secret, received: tested, expected: 'webhook.test' },
    { secret, received: made, expected: 'document.created' },
    { secret: webhook.secret, received: made, expected: 'document.created' },
    { secret: another, received: made, expected: 'refused' },
    { secret, received: { ...made, text: made.text.replace('1.5', '2.5') }, expected: 'refused' },
    { secret, received: { ...made, headers: { ...made.headers, 'webhook-id': tested.id } }, expected: 'refused' },
    {
      secret,
      received: { ...made, headers: at(Number(made.headers['webhook-timestamp']) - 600) },
      expected: 'refused',
    },
  ];
};

const inNode = ({ secret, received }: Case): string => {
  try {
    verify(secret, received);
    return received.body.type;
  } catch {
    return 'refused';
  }
};

test('npm and PyPI libraries accept deliveries by either secret after a rotation, and reject changed ones', async ({
  skip,
}) => {
  const cases = await deliveries();
  const expected = cases.map((one) => one.expected);
  expect(cases.map(inNode)).toEqual(expected);
  if ('missing' in python) skip(`those of PyPI were not asked, as ${python.missing}`);
  const file = path.join(folder, 'deliveries.json');
  const given = cases.map(({ secret, received: { headers, text } }) => ({ secret, headers, text }));
  await writeFile(file, JSON.stringify(given));
  const bin = 'bin' in python ? python.bin : '';
  const { stdout } = await run(path.join(bin, 'python3'), [path.join(here, 'verify.py'), file]);
  expect(JSON.parse(stdout)).toEqual(expected);
});
