import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { deserialize, rawBatch } from '../../../shared/clients/raw-documents.ts';

const batch = (documents: object[]) => rawBatch({ readBufferedDocuments: () => documents });

test('a raw batch is read document by document', () => {
  const documents = [{ a: 'ä' }, { b: [1, null] }];
  expect(batch(documents.map((document) => BSON.serialize(document))).map(deserialize)).toEqual(documents);
});

test('throws for documents that the driver has decoded, which were asked for without raw: true', () => {
  expect(() => batch([BSON.serialize({ a: 1 }), { a: 1 }])).toThrow('without raw: true');
});
