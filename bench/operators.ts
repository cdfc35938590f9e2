/**
 * `node bench/operators.ts [rounds] [operator]`: the CPU of this process and of MongoDB that an update by an operator
 * costs, as a ratio to an update of a plain field. The handler runs in this process, the two in turns.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { handler as createDocument } from '../functions/data/create-document.ts';
import { handler as updateDocument } from '../functions/data/update-document.ts';
import { LambdaContext } from '../infra/local/in-process.ts';
import { parseSettings } from '../infra/local/settings.ts';
import { startStack } from '../infra/local/stack.ts';
import { findBacking } from './processes.ts';
import { endProgress, progress } from './progress.ts';
import { sampleDocument } from './samples.ts';
import { makeBed } from './seed.ts';
import { median } from './statistics.ts';

const [rounds = '30', only = ''] = process.argv.slice(2);
const requestsARound = 400;
const parallel = 4;

const bodies: Readonly<Record<string, (index: number) => object>> = {
  $inc: () => ({ $inc: { likes: 1 } }),
  $mul: () => ({ $mul: { likes: 1 } }),
  $min: (index) => ({ $min: { likes: index } }),
  $max: (index) => ({ $max: { likes: index } }),
  $addToSet: () => ({ $addToSet: { tags: 'first' } }),
  $unset: () => ({ $unset: ['none'] }),
};

const directory = await mkdtemp(path.join(tmpdir(), 'basalt-operators-'));
const stack = await startStack({
  ...parseSettings({ RATE_LIMIT: '0', LOG: 'silent', BASALT_DIR: directory }),
  port: 0,
  report: progress,
  onFailure: (detail) => {
    console.error(detail);
    process.exit(1);
  },
});
const backing = findBacking();
Object.assign(process.env, stack.env);

try {
  const bed = await makeBed(stack.dashboardUrl, ['posts']);
  const headers = { 'x-api-key': bed.secretKey, 'content-type': 'application/json' };
  const http = { method: 'PATCH', path: '/', sourceIp: '127.0.0.1', userAgent: '' };
  const event = { version: '2.0', rawQueryString: '', headers, requestContext: { http, requestId: 'bench' } };
  const made = await (createDocument as CallableFunction)(
    { ...event, pathParameters: { collectionName: 'posts' }, body: JSON.stringify(sampleDocument(0)) },
    new LambdaContext('bench'),
  );
  const { _id: id } = JSON.parse(made.body) as { readonly _id: string };
  const send = async (body: object): Promise<void> => {
    const request = { ...event, pathParameters: { collectionName: 'posts', id }, body: JSON.stringify(body) };
    const { statusCode, body: answer } = await (updateDocument as CallableFunction)(
      request,
      new LambdaContext('bench'),
    );
    if (statusCode !== 200) throw new Error(`${statusCode} ${answer}`);
  };
  /** µs of a request: of this process and of the engine. */
  const cpuOf = async (bodyOf: (index: number) => object): Promise<number> => {
    const [before, engine] = [process.cpuUsage(), backing?.engine() ?? 0];
    let next = 0;
    const some = async (): Promise<void> => {
      while (next < requestsARound) await send(bodyOf(next++));
    };
    await Promise.all(Array.from({ length: parallel }, some));
    const { user, system } = process.cpuUsage(before);
    return (user + system + (backing?.engine() ?? 0) - engine) / requestsARound;
  };
  for (const [name, bodyOf] of Object.entries(bodies)) {
    if (!name.includes(only)) continue;
    const ratios: number[] = [];
    const plains: number[] = [];
    for (let round = 0; round < Number(rounds) + 3; round++) {
      progress(`${name}: round ${round}`);
      const isFirst = round % 2 === 0;
      const one = isFirst ? await cpuOf(bodyOf) : undefined;
      const plain = await cpuOf((index) => ({ likes: index }));
      const cost = one ?? (await cpuOf(bodyOf));
      if (round < 3) continue;
      ratios.push(cost / plain);
      plains.push(plain);
    }
    endProgress();
    ratios.sort((a, b) => a - b);
    const at = (share: number): string => (ratios[Math.floor(ratios.length * share)] ?? 0).toFixed(3);
    console.log(
      `${name}: ${median(ratios).toFixed(3)} of a plain update (${median(plains).toFixed(0)} µs); half of the rounds ${at(0.25)} to ${at(0.75)}`,
    );
  }
} finally {
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
}
process.exit(0);
