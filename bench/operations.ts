import type { LoadRequest } from './load.ts';

/** What is compared; its area is the heading of the chart that it stands below. */
export interface Compared {
  readonly name: string;
  readonly area: string;
  /** Ratio to the bare server that the project aims at: with rate counting off, and each request counted. */
  readonly aim?: { readonly uncounted: number; readonly counted: number };
}

/** What one operation sends; `ids` are documents that exist, in an order of their own for each measurement. */
export interface Operation extends Compared {
  /** Adds documents or uses them up, so it has a collection of its own: all contenders read the same data throughout. */
  readonly changesSize?: 'grows' | 'shrinks';
  readonly request: (collection: string, ids: readonly string[]) => LoadRequest;
}

const authors = 1000;

const area = 'documents';

/** A document as an app would store it, about 300 bytes. */
export const sampleDocument = (index: number): Record<string, unknown> => ({
  title: `Post number ${index}`,
  author: `author-${index % authors}`,
  body: 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.',
  likes: index % 500,
  published: index % 3 === 0,
  tags: ['one', 'two', 'three'],
});

const next = (ids: readonly string[]): (() => string) => {
  let at = 0;
  return () => ids[at++ % ids.length] ?? '';
};

const counter = (): (() => number) => {
  let at = 0;
  return () => at++;
};

const onDocument =
  (method: 'GET' | 'DELETE') =>
  (collection: string, ids: readonly string[]): LoadRequest => {
    const id = next(ids);
    return { method, path: () => `/api/data/${collection}/${id()}` };
  };

export const operations: readonly Operation[] = [
  {
    name: 'create',
    area,
    changesSize: 'grows',
    aim: { uncounted: 0.75, counted: 0.4 },
    request: (collection) => {
      const index = counter();
      return {
        method: 'POST',
        path: () => `/api/data/${collection}`,
        body: () => JSON.stringify(sampleDocument(index())),
      };
    },
  },
  { name: 'get', area, aim: { uncounted: 0.6, counted: 0.25 }, request: onDocument('GET') },
  {
    name: 'list 20 newest, with total',
    area,
    aim: { uncounted: 0.7, counted: 0.38 },
    request: (collection) => ({ method: 'GET', path: () => `/api/data/${collection}?limit=20` }),
  },
  {
    name: 'filter by an indexed field',
    area,
    aim: { uncounted: 0.7, counted: 0.33 },
    request: (collection) => {
      const index = counter();
      return { method: 'GET', path: () => `/api/data/${collection}?author=author-${(index() * 7) % authors}&limit=20` };
    },
  },
  {
    name: 'update',
    area,
    aim: { uncounted: 0.6, counted: 0.33 },
    request: (collection, ids) => {
      const id = next(ids);
      const index = counter();
      return {
        method: 'PATCH',
        path: () => `/api/data/${collection}/${id()}`,
        body: () => JSON.stringify({ likes: index() }),
      };
    },
  },
  {
    name: 'delete',
    area,
    aim: { uncounted: 0.8, counted: 0.37 },
    changesSize: 'shrinks',
    request: onDocument('DELETE'),
  },
];
