import type { ApiExample } from 'basalt:api';
import { systemFields, type ValueType } from '../../../shared/collections/collection.ts';
import type { Data } from '../../api/rows.ts';

/** A collection of the project, and its newest document if there is one. */
export interface SampledCollection {
  readonly name: string;
  readonly schema: Data<'get-collection'>['schema'];
  readonly rls: Data<'get-collection'>['rls'];
  readonly newest: Readonly<Record<string, unknown>> | undefined;
}

const someId = '6743f0c2a91b5d0012ab34cd';

const sampleOf = ({ type, items, fields = [] }: ValueType): unknown => {
  const values: Readonly<Record<ValueType['type'], () => unknown>> = {
    String: () => 'Hello',
    Number: () => 1,
    Boolean: () => true,
    Date: () => '2026-01-31T12:00:00.000Z',
    Ref: () => someId,
    Object: () => Object.fromEntries(fields.map((field) => [field.key, sampleOf(field)])),
    Array: () => (items ? [sampleOf(items)] : []),
  };
  return values[type]();
};

/** A sample body: from the schema, otherwise from the newest document, otherwise any JSON. */
const bodyOf = ({ schema, rls, newest }: SampledCollection): Readonly<Record<string, unknown>> => {
  const isOwn = (key: string) => !systemFields.has(key) && !(rls.enabled && key === rls.ownerField);
  if (schema) {
    const fields = schema.filter(({ key }) => isOwn(key));
    return Object.fromEntries(fields.map((field) => [field.key, sampleOf(field as ValueType)]));
  }
  const held = Object.entries(newest ?? {}).filter(([key]) => isOwn(key));
  return held.length > 0 ? Object.fromEntries(held) : { title: 'Hello' };
};

const isPlain = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** The example of a route, with the names and fields of a collection. */
export const sampled = (example: ApiExample, collection: SampledCollection): ApiExample => {
  const { id, params } = example;
  if (id === 'create-ticket') return { ...example, body: { collections: [collection.name] } };
  const document = bodyOf(collection);
  if (id === 'run-batch') {
    return { ...example, body: { writes: [{ op: 'insert', collection: collection.name, document }] } };
  }
  if (!('collectionName' in params)) return example;
  const [key, value] = Object.entries(document).find(([, one]) => isPlain(one) && one !== '') ?? ['_id', someId];
  const kept = collection.newest?.[key];
  const found = isPlain(kept) ? kept : value;
  const bodies: Readonly<Record<string, unknown>> = {
    'create-document': document,
    'create-documents': [document, document],
    'update-documents': { where: { [key]: found }, changes: { [key]: value } },
    'delete-documents': { where: { [key]: found } },
    'update-document': { [key]: value },
    'query-documents': { where: { [key]: found }, sort: ['-createdAt'], limit: 20 },
    'aggregate-documents': { pipeline: [{ $match: { [key]: found } }, { $count: 'documents' }] },
  };
  return {
    ...example,
    params: {
      ...params,
      collectionName: collection.name,
      ...('id' in params && collection.newest && { id: String(collection.newest._id) }),
    },
    query:
      id === 'list-documents'
        ? { limit: '20', sort: '-createdAt' }
        : id === 'list-changes'
          ? { limit: '100' }
          : example.query,
    body: bodies[id] ?? example.body,
  };
};
