import { type Linked, openProject, type Place } from './linked-project.ts';
import { type LogFilter, type RejectedRequest, rejectedPages } from './rejected-requests.ts';
import { CommandError, type Terminal } from './terminal.ts';
import { repeat, secondsOf } from './watch.ts';

interface LogsOptions extends Place {
  readonly json?: boolean | undefined;
  readonly code?: string | undefined;
  readonly route?: string | undefined;
  readonly 'request-id'?: string | undefined;
  readonly user?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: string | undefined;
  readonly follow?: boolean | undefined;
  readonly every?: string | undefined;
}

const defaultLimit = 20;

const limitOf = (text: string | undefined): number => {
  if (text === undefined) return defaultLimit;
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1000) return Number(text);
  throw new CommandError('--limit must be a number from 1 to 1000.');
};

const filterOf = ({ code, route, user, since, 'request-id': requestId }: LogsOptions): LogFilter => ({
  ...(code !== undefined && { code }),
  ...(route !== undefined && { route }),
  ...(requestId !== undefined && { requestId }),
  ...(user !== undefined && { user }),
  ...(since !== undefined && { since }),
});

/** The newest entries, newest first. */
const newest = async (linked: Linked, filter: LogFilter, limit: number) => {
  const items: RejectedRequest[] = [];
  let notKept = 0;
  for await (const page of rejectedPages(linked, filter)) {
    items.push(...page.items);
    notKept = page.notKept;
    if (items.length >= limit) break;
  }
  return { items: items.slice(0, limit), notKept };
};

const lineOf = ({ color }: Terminal, entry: RejectedRequest): string => {
  const { at, status, code, key, userId, address, requestId, message, fields, collection } = entry;
  const route = collection === undefined ? entry.route : entry.route.replace(':collection', collection);
  const by = [`${key} key`, ...(userId === null ? [] : [`user ${userId}`]), address, requestId].join(', ');
  const named = fields.length === 0 ? '' : `\n    fields: ${fields.join(', ')}`;
  return `${at}  ${color('yellow', `${status} ${code}`)}  ${route}\n    ${message}${named}\n    ${by}\n`;
};

/** Entries are written in batches, so an older one can appear after a newer one. */
const overlapMs = 60_000;

/** Prints what is new, oldest first. Entries of the last minute before the newest are read again. */
const follow = async (
  terminal: Terminal,
  linked: Linked,
  options: LogsOptions,
  first: readonly RejectedRequest[],
  floor: string | undefined,
) => {
  let known = first;
  await repeat(terminal, secondsOf(options.every), async () => {
    const [last] = known;
    const overlap = last && new Date(Date.parse(last.at) - overlapMs).toISOString();
    const since = overlap && Date.parse(overlap) > Date.parse(floor ?? overlap) ? overlap : (floor ?? overlap);
    const filter = { ...filterOf(options), ...(since !== undefined && { since }) };
    const { items } = await newest(linked, filter, Number.POSITIVE_INFINITY);
    const ids = new Set(known.map(({ _id }) => _id));
    for (const entry of items.filter(({ _id }) => !ids.has(_id)).reverse()) {
      terminal.print(options.json ? `${JSON.stringify(entry)}\n` : lineOf(terminal, entry));
    }
    if (items.length > 0) known = items;
  });
};

/** Prints rejected requests, the newest last. */
export const logs = async (terminal: Terminal, options: LogsOptions): Promise<number> => {
  const limit = limitOf(options.limit);
  secondsOf(options.every);
  const linked = await openProject(terminal, options);
  const { items, notKept } = await newest(linked, filterOf(options), limit);
  const shown = [...items].reverse();
  if (!options.json) terminal.print(shown.map((entry) => lineOf(terminal, entry)).join(''));
  else if (options.follow) terminal.print(shown.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  else terminal.print(`${JSON.stringify({ items: shown, notKept })}\n`);
  if (notKept > 0) terminal.note(`${notKept} more were not kept, because more than 10 came in a second.`);
  if (items.length === 0 && !options.follow) terminal.note('No rejected requests in the last 7 days.');
  // Entries before those that the limit left out are not new.
  const floor = items.length === limit ? items.at(-1)?.at : options.since;
  if (options.follow) await follow(terminal, linked, options, items, floor);
  return 0;
};
