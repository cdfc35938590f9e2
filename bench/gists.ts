import type { DocumentRow } from './document-row.ts';
import type { Answer, Name, Operation } from './operation.ts';

const words = ['title', 'author', 'body', 'published', 'tags'];

/** The documents of a list, which Basalt has in an envelope. */
const itemsOf = (body: Answer, name: Name): Answer[] => {
  if (name === 'peer') return body.results;
  return name === 'bare' ? body.items : body.data.items;
};

const totalOf = (body: Answer, name: Name): unknown => {
  if (name === 'peer') return body.count;
  return name === 'bare' ? body.total : body.data.total;
};

const titlesOf = (body: Answer, name: Name): unknown[] => itemsOf(body, name).map(({ title }) => title);

const idsIn = (body: Answer, name: Name): unknown[] => {
  if (name === 'peer') return body.map(({ success }: Answer) => success.objectId);
  return name === 'bare' ? body.ids : body.data.ids;
};

const rowsOf = (body: Answer, name: Name): Answer[] => {
  if (name === 'peer') return body.results;
  return name === 'bare' ? body : body.data;
};

/** What of an answer has to be the same from all. Ids differ, and the peer answers less to what is written. */
export const gists: Readonly<Partial<Record<DocumentRow, NonNullable<Operation['gist']>>>> = {
  create: (body) => typeof (body.objectId ?? body._id),
  bulk: (body, name) => new Set(idsIn(body, name)).size,
  get: (body) => words.filter((key) => key in body),
  list: (body, name) => [titlesOf(body, name), totalOf(body, name)],
  filter: titlesOf,
  populate: (body, name) => itemsOf(body, name).map(({ title, writer }) => [title, writer.name, writer.about]),
  aggregate: (body, name) => rowsOf(body, name).map(({ posts, likes }) => [posts, likes]),
};
