import type { DocumentRow } from './document-row.ts';
import type { Answer, Name, Operation } from './operation.ts';

type Gist = NonNullable<Operation['gist']>;

const words = ['title', 'author', 'body', 'published', 'tags'];

/** The documents of a list; Basalt wraps them in an envelope. */
const itemsOf = (body: Answer, name: Name): Answer[] => {
  if (name === 'parse') return body.results;
  return name === 'basalt' || name === 'counted' || name === 'blocks' ? body.data.items : body.items;
};

const totalOf = (body: Answer, name: Name): unknown => {
  if (name === 'parse') return body.count;
  if (name === 'pocketbase') return body.totalItems;
  return name === 'bare' ? body.total : body.data.total;
};

const titlesOf = (body: Answer, name: Name): unknown[] => itemsOf(body, name).map(({ title }) => title);

const idsIn = (body: Answer, name: Name): unknown[] => {
  if (name === 'parse') return body.map(({ success }: Answer) => success.objectId);
  return name === 'bare' ? body.ids : body.data.ids;
};

const rowsOf = (body: Answer, name: Name): Answer[] => {
  if (name === 'parse') return body.results;
  return name === 'bare' ? body : body.data;
};

const shown: Gist = (body) => words.filter((key) => key in body);
const list: Gist = (body, name) => [titlesOf(body, name), totalOf(body, name)];

/** The part of a response that all contenders must return. Ids differ, and other products return less after writes. */
export const gists: Readonly<Partial<Record<DocumentRow, Gist>>> = {
  create: (body) => typeof (body.objectId ?? body.id ?? body._id),
  bulk: (body, name) => new Set(idsIn(body, name)).size,
  get: shown,
  getAlone: shown,
  list,
  listMany: list,
  filter: titlesOf,
  where: titlesOf,
  search: titlesOf,
  feed: (body, name) =>
    name === 'bare' ? titlesOf(body, name) : body.data.changes.map(({ document }: Answer) => document.title),
  populate: (body, name) => itemsOf(body, name).map(({ title, writer }) => [title, writer.name, writer.about]),
  aggregate: (body, name) => rowsOf(body, name).map(({ posts, likes }) => [posts, likes]),
};
