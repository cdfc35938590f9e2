import { expect, test } from 'vitest';
import { schemaConflict } from '../../../../shared/collections/schema/schema-changes.ts';

test('409 SCHEMA_CONFLICT omits errors when the list is empty', () => {
  const errors = [{ field: 'a', message: 'a is required' }];
  expect(schemaConflict('Change it.', errors)).toMatchObject({ code: 'SCHEMA_CONFLICT', errors });
  expect(schemaConflict('Retry.').errors).toBeUndefined();
});
