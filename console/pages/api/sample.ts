import type { ApiExample } from 'basalt:api';
import { type Collection, systemFields, type ValueType } from '../../../shared/collections/collection.ts';
import type { Data } from '../../api/rows.ts';
import type { Names } from './code.ts';

/** A collection of the project, and its newest document if there is one. */
export interface SampledCollection {
  readonly name: string;
  readonly schema: Collection['schema'] | Data<'get-collection'>['schema'];
  readonly rls: Data<'get-collection'>['rls'];
  readonly newest: Readonly<Record<string, unknown>> | undefined;
}

const someId = '6743f0c2a91b5d0012ab34cd';

const sampleOf = ({ type, items, fields = [], enum: allowed = [] }: ValueType): unknown => {
  const values: Readonly<Record<ValueType['type'], () => unknown>> = {
    String: () => 'Hello',
    Number: () => 1,
    Boolean: () => true,
    Date: () => '2026-01-31T12:00:00.000Z',
    Ref: () => someId,
    Object: () => Object.fromEntries(fields.map((field) => [field.key, sampleOf(field)])),
    Array: () => (items ? [sampleOf(items)] : []),
  };
  return allowed[0] ?? values[type]();
};

/** A sample body: from the schema, otherwise from the newest document, otherwise any JSON. */
export const bodyOf = ({ schema, rls, newest }: SampledCollection): Readonly<Record<string, unknown>> => {
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

/** Names of parameters that contain the path of a file. */
const withFile = (body: unknown, filePath: string): unknown => {
  if (typeof body !== 'object' || body === null) return body;
  return {
    ...body,
    ...('filePath' in body && { filePath }),
    ...('path' in body && { path: filePath }),
    ...('paths' in body && { paths: [filePath] }),
  };
};

/** Values that only the reader has: of an email, of an app, or returned by another route. */
const readersOwn: Readonly<Record<string, string>> = {
  audienceId: 'AUDIENCE_ID',
  code: 'CODE',
  contactId: 'CONTACT_ID',
  id: 'ID',
  otp: 'CODE',
  providerId: 'EMAIL_ID',
  recoveryCode: 'RECOVERY_CODE',
  rtCode: 'RT_CODE',
  state: 'STATE',
  ticket: 'TICKET',
  token: 'TOKEN',
};

const withCapitals = <T>(values: T): T =>
  typeof values === 'object' && values !== null && !Array.isArray(values)
    ? (Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          typeof value === 'string' && Object.hasOwn(readersOwn, name) ? readersOwn[name] : value,
        ]),
      ) as T)
    : values;

/** Whether a text contains such a value, in capitals. */
export const hasCapitals = (text: string): boolean =>
  Object.values(readersOwn).some((word) => new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(text));

/** The example of a route, with the names and values of the project. */
export const sampled = (
  general: ApiExample,
  names: Pick<Names, 'projectId' | 'collection' | 'filePath'>,
): ApiExample => {
  const { collection, filePath, projectId } = names;
  const isOfData = general.area === 'data';
  const params = isOfData ? general.params : withCapitals(general.params);
  const example = {
    ...general,
    params: 'projectId' in params ? { ...params, projectId } : params,
    query: isOfData ? general.query : withCapitals(general.query),
    body:
      general.area === 'storage' && filePath !== undefined
        ? withFile(general.body, filePath)
        : withCapitals(general.body),
  };
  const { id } = example;
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
