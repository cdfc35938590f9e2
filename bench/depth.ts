import type { Contender } from './contender.ts';
import { fed, positionAt } from './feed.ts';
import { type LoadRequest, measure } from './load.ts';
import { progress } from './progress.ts';
import { median } from './statistics.ts';

/** Requests per second of the same list in a large collection and deep inside it. */
export interface Depth {
  readonly smallList: number;
  readonly largeList: number;
  readonly firstPage: number;
  readonly deepPage: number;
  readonly smallFeed: number;
  readonly largeFeed: number;
  /** Medians of the ratios per round. */
  readonly largeRatio: number;
  readonly deepRatio: number;
  readonly feedRatio: number;
}

const pageSize = 20;
const deepPage = 10_000;
const step = 1000;

const get = (path: string): LoadRequest => ({ method: 'GET', path: () => path });

const cursorAt = async (target: Contender, documents: number): Promise<string> => {
  let cursor = '';
  for (let done = 0; done < documents; done += step) {
    const url = `${target.url}/api/data/large?limit=${step}&fields=_id&cursor=${encodeURIComponent(cursor)}`;
    const answer = await fetch(url, { headers: target.headers });
    const { data } = (await answer.json()) as { data: { nextCursor: string } };
    cursor = data.nextCursor;
    progress(`walking to page ${deepPage}: ${done + step} of ${documents} documents`);
  }
  return encodeURIComponent(cursor);
};

/**
 * Measures the 20 newest with total at both sizes, a cursor's first page compared with page 10 000, and 20 changes
 * since a position at both sizes.
 */
export const measureDepth = async (
  target: Contender,
  {
    rounds,
    seconds,
    small,
    large,
  }: { readonly rounds: number; readonly seconds: number; readonly small: number; readonly large: number },
): Promise<Depth> => {
  const cursor = await cursorAt(target, Math.min(deepPage * pageSize, large - 2 * step));
  const changes = async (name: string, documents: number): Promise<LoadRequest> => {
    const since = await positionAt(target, name, Math.floor(documents / 2000) * 1000);
    return get(`/api/data/${name}/changes?since=${since}&limit=${pageSize}`);
  };
  progress('walking the changes');
  const requests = {
    smallList: get(`/api/data/basalt?limit=${pageSize}`),
    largeList: get(`/api/data/large?limit=${pageSize}`),
    firstPage: get(`/api/data/large?limit=${pageSize}&cursor=`),
    deepPage: get(`/api/data/large?limit=${pageSize}&cursor=${cursor}`),
    smallFeed: await changes(fed, small),
    largeFeed: await changes('large', large),
  };
  const done: Record<keyof typeof requests, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    const speeds: [string, number][] = [];
    for (const [name, request] of Object.entries(requests)) {
      progress(`depth: round ${round + 1} of ${rounds}, ${name}`);
      await measure(target, request, 1);
      speeds.push([name, (await measure(target, request, seconds)).perSecond]);
    }
    done.push(Object.fromEntries(speeds) as Record<keyof typeof requests, number>);
  }
  return {
    smallList: median(done.map(({ smallList }) => smallList)),
    largeList: median(done.map(({ largeList }) => largeList)),
    firstPage: median(done.map(({ firstPage }) => firstPage)),
    deepPage: median(done.map((round) => round.deepPage)),
    smallFeed: median(done.map(({ smallFeed }) => smallFeed)),
    largeFeed: median(done.map(({ largeFeed }) => largeFeed)),
    largeRatio: median(done.map(({ smallList, largeList }) => smallList / largeList)),
    deepRatio: median(done.map(({ firstPage, deepPage: deep }) => firstPage / deep)),
    feedRatio: median(done.map(({ smallFeed, largeFeed }) => smallFeed / largeFeed)),
  };
};
