import path from 'node:path';
import { check } from './check.ts';
import { Documents, documentCollections } from './documents.ts';
import { causeFaults } from './faults.ts';
import { FeedReader } from './feed.ts';
import { History } from './history.ts';
import { memberships, People, peopleCollections, sessions } from './people.ts';
import { pick, seededRandom } from './random.ts';
import { startService } from './service.ts';
import { repeats, uniqueValues, upserts, valueCollections } from './values.ts';

interface Options {
  readonly seed: string;
  readonly seconds: number;
  readonly clients: number;
  /** Receives `history.jsonl` and a page for each wrong object. */
  readonly directory: string;
  readonly report: (line: string) => void;
}

/** Runs clients and faults, checks the history, prints a line for each model and returns the problems. */
export const runHistory = async ({
  seed,
  seconds,
  clients,
  directory,
  report,
}: Options): Promise<readonly string[]> => {
  report(`seed ${seed}: starting a stack …`);
  const service = await startService([...documentCollections, ...valueCollections, ...peopleCollections]);
  const file = path.join(directory, 'history.jsonl');
  const history = new History(file);
  try {
    const people = new People(service, 4);
    await people.signUp();
    const [plain, fed] = [new Documents(service, history, 'plain'), new Documents(service, history, 'fed')];
    const repeated = repeats(service, history);
    const areas = [
      (client: number, random: ReturnType<typeof seededRandom>) => plain.act(client, random),
      (client: number, random: ReturnType<typeof seededRandom>) => fed.act(client, random),
      uniqueValues(service, history),
      upserts(service, history),
      repeated.act,
      memberships(service, history, people),
      sessions(service, history, people),
    ];
    const feed = new FeedReader(service);
    const end = performance.now() + seconds * 1000;
    const isOver = () => performance.now() > end;
    const client = async (number: number): Promise<void> => {
      const random = seededRandom(`${seed} ${number}`);
      while (!isOver()) await pick(random, areas)(number, random);
    };
    const ticker = setInterval(() => {
      const left = Math.max(0, Math.round((end - performance.now()) / 1000));
      report(`seed ${seed}: ${history.total} operations, ${left} s left`);
    }, 10_000);
    const [faults] = await Promise.all([
      causeFaults(service, seededRandom(`${seed} faults`), isOver),
      feed.follow(isOver),
      ...Array.from({ length: clients }, (_, number) => client(number)),
    ]).finally(() => clearInterval(ticker));
    report('reading the final states …');
    await Promise.all([service.mongo.heal(), service.dynamo.heal()]);
    await plain.finish();
    const problems = [...(await feed.finish(await fed.finish()))];
    await repeated.finish();
    await history.close();
    report('checking …');
    for (const { model, operations, objects, illegal, undecided } of await check(file, directory)) {
      const unknown = history.unknown[model] ?? 0;
      console.log(`${model.padEnd(9)} ${operations} operations, ${unknown} of them unknown, on ${objects} objects`);
      for (const key of illegal)
        problems.push(`${model} ${key}: not linearizable, see ${directory}/${model}-${key.replaceAll(' ', '-')}.html`);
      for (const key of undecided) problems.push(`${model} ${key}: not decided within a minute`);
    }
    console.log(`feed      ${feed.changes} changes`);
    console.log(
      `faults    ${Object.entries(faults)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}`,
    );
    console.log(`seed ${seed}: ${history.total} operations in ${seconds} s, ${problems.length} problems`);
    return problems;
  } finally {
    await service.stop();
  }
};
