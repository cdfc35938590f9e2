import { expect, test } from 'vitest';
import { routes } from '../../../../functions/routes.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import { isPlainObject } from '../../../../shared/core/json.ts';
import { parseInput } from '../../../../shared/http/middleware/input.ts';
import type { Route } from '../../../../shared/http/route.ts';

const values: readonly unknown[] = [null, 5, 'x', true, [], {}, [5], [null], { a: 1 }];

/** The names of the members of a schema, also inside of pipes and optional schemas. */
const membersOf = (schema: unknown): readonly string[] => {
  if (!isPlainObject(schema)) return [];
  const { entries, pipe, options, wrapped } = schema;
  const inner = [pipe, options].flatMap((list) => (Array.isArray(list) ? list : [])).filter((each) => each !== schema);
  return [...(isPlainObject(entries) ? Object.keys(entries) : []), ...[...inner, wrapped].flatMap(membersOf)];
};

const messageOf = ({ body }: Route, value: unknown): string => {
  try {
    if (body) parseInput(body, value, 'VALIDATION_FAILED');
    return '';
  } catch (error) {
    return error instanceof AppError ? error.message : String(error);
  }
};

const all = Object.values(routes).flatMap((area) => Object.values<Route>(area));

test('400 says what a member of a body must be, in words of the service', () => {
  const said = all.flatMap((route) =>
    membersOf(route.body).flatMap((name) => values.map((value) => messageOf(route, { [name]: value }))),
  );
  expect(said.length).toBeGreaterThan(500);
  expect(said.filter((message) => /Invalid type|Expected|\S The body must/.test(message))).toEqual([]);
});
