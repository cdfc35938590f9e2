import type { Contender } from './contender.ts';
import { sendOne } from './one-request.ts';
import type { Name, Operation } from './operation.ts';
import { progress } from './progress.ts';
import { table } from './report.ts';

/** The first requests fill caches and open connections. */
const requests = 4;

const seconds = 0.01;

interface Costs {
  readonly operation: string;
  readonly basalt: readonly string[];
  readonly peer?: readonly string[];
}

/** The commands of the cheapest of a few requests in a row, which is a warm one. */
export const noteWarm = async <Note extends { readonly commands: readonly string[] }>(
  { prepare }: Operation,
  name: Name,
  target: Contender,
  take: (commands: readonly string[]) => Note,
): Promise<Note> => {
  const request = await prepare(name, target, seconds);
  const seen: Note[] = [];
  for (let sent = 0; sent < requests; sent++) {
    take(await target.commands());
    await sendOne(target, request);
    seen.push(take(await target.commands()));
  }
  return seen.reduce((least, note) => (note.commands.length < least.commands.length ? note : least));
};

const commandsOf = async (operation: Operation, name: Name, target: Contender): Promise<readonly string[]> =>
  (await noteWarm(operation, name, target, (commands) => ({ commands }))).commands;

/** The database commands of one warm request per operation, for Basalt with counting and for Parse Server. */
export const countCommands = async (
  { counted, parse }: { readonly counted: Contender; readonly parse: Contender | undefined },
  operations: readonly Operation[],
): Promise<Costs[]> => {
  const costs: Costs[] = [];
  for (const operation of operations) {
    progress(`commands: ${operation.name}`);
    const ours = await commandsOf(operation, 'counted', counted);
    const theirs = parse && operation.peers?.includes('parse') && (await commandsOf(operation, 'parse', parse));
    costs.push({ operation: operation.name, basalt: ours, ...(theirs && { peer: theirs }) });
  }
  return costs;
};

const called = new Map([
  ['mongodb', 'MongoDB'],
  ['dynamodb', 'DynamoDB'],
  ['s3', 'S3'],
  ['sqs', 'SQS'],
]);

/** `['mongodb find', 'mongodb find']` → `2 find`. Omits the `Command` at the end of AWS names. */
const listed = (commands: readonly string[], system: string): string => {
  const names = commands.flatMap((command) => {
    const [of, name = ''] = command.split(' ');
    return of === system ? [name.replace(/Command$/, '')] : [];
  });
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, same]) => (same.length > 1 ? `${same.length} ${name}` : name))
    .join(', ');
};

export const renderCommands = (costs: readonly Costs[]): string =>
  table(
    [
      ['one warm request', ...called.values(), 'Parse Server, MongoDB'],
      ...costs.map(({ operation, basalt, peer = [] }) => [
        operation,
        ...[...called.keys()].map((system) => listed(basalt, system)),
        listed(peer, 'mongodb'),
      ]),
    ],
    true,
  );
