import { describe, expect, test } from 'vitest';
import { parseProposal } from '../../../shared/usage/assistant.ts';

const title = { key: 'title', type: 'String' };
const complete = { ...title, required: false, unique: false };
const answer = (value: unknown): string => JSON.stringify(value);

describe('a response of the model is a proposal', () => {
  test.each<[string, string, unknown]>([
    ['as asked for', answer({ name: 'posts', schema: [title] }), { name: 'posts', schema: [complete] }],
    ['without a name', answer({ schema: [title] }), { schema: [complete] }],
    ['with an empty name', answer({ name: '', schema: [title] }), { schema: [complete] }],
    ['with null as name', answer({ name: null, schema: [title] }), { schema: [complete] }],
    ['in a fence', `Here you are:\n\`\`\`json\n${answer({ schema: [title] })}\n\`\`\`\nEnjoy!`, { schema: [complete] }],
    ['with more than was asked for', answer({ schema: [title], sql: 'DROP', rls: {} }), { schema: [complete] }],
    [
      'with limits of values, and closed',
      answer({
        schema: [
          { ...title, minLength: 1, maxLength: 80, pattern: null },
          { key: 'tags', type: 'Array', items: { type: 'String', enum: ['a', 'b'] }, uniqueItems: true },
        ],
        closed: true,
      }),
      {
        schema: [
          { ...complete, minLength: 1, maxLength: 80 },
          {
            key: 'tags',
            type: 'Array',
            items: { type: 'String', enum: ['a', 'b'] },
            uniqueItems: true,
            required: false,
            unique: false,
          },
        ],
        closed: true,
      },
    ],
    ['that is not closed', answer({ schema: [title], closed: false }), { schema: [complete] }],
    [
      'of user accounts, whose address is unique',
      answer({
        name: 'users',
        schema: [
          { key: 'email', type: 'String', required: true },
          { key: 'password', type: 'String', required: true },
        ],
      }),
      {
        name: 'users',
        schema: [
          { key: 'email', type: 'String', required: true, unique: true },
          { key: 'password', type: 'String', required: true, unique: false },
        ],
      },
    ],
  ])('%s', (_what, text, proposal) => {
    expect(parseProposal(text)).toEqual({ usable: true, proposal });
  });

  test('keeps references with onDelete, and unique lists with or without a name', () => {
    const schema = [
      { key: 'poll', type: 'Ref', ref: 'polls', exists: true, onDelete: 'delete' },
      { key: 'person', type: 'String' },
    ];
    const proposal = { schema: schema.map((field) => ({ ...field, required: false, unique: false })) };
    const unique = [['poll', 'person']];
    const lists = { unique: [{ fields: ['poll', 'person'] }] };
    expect(parseProposal(answer({ schema, unique }))).toEqual({ usable: true, proposal: { ...proposal, ...lists } });
    const named = { name: 'votes', ...proposal, ...lists };
    expect(parseProposal(answer({ name: 'votes', schema, unique }))).toEqual({ usable: true, proposal: named });
    const wrong = answer({ schema, unique: [['nothing']] });
    expect(parseProposal(wrong)).toEqual({ usable: false, reason: expect.stringContaining('"nothing"') });
  });
});

const nested = (levels: number): unknown =>
  levels === 0 ? { key: 'a', type: 'String' } : { key: 'a', type: 'Object', fields: [nested(levels - 1)] };

describe('a response of the model is not usable', () => {
  test.each<[string, string, string]>([
    ['without JSON', 'I cannot help with that.', 'not one JSON object'],
    [
      'with bounds that contradict',
      answer({ schema: [{ ...title, minLength: 2, maxLength: 1 }] }),
      'title has a minLength',
    ],
    ['empty', '', 'not one JSON object'],
    ['with broken JSON', '{"schema": [', 'not one JSON object'],
    ['with two objects', '{"a":1} {"b":2}', 'not one JSON object'],
    ['with a bare list', answer([title]), 'schema must be a list'],
    ['without schema', answer({ name: 'posts' }), 'schema must be a list of fields'],
    ['with null as schema', answer({ name: 'posts', schema: null }), 'schema must be a list of fields'],
    ['with an empty schema', answer({ schema: [] }), 'At least one field is required'],
    ['with a schema that is an object', answer({ schema: { title: 'String' } }), 'schema must be a list of fields'],
    ['with an unknown type', answer({ schema: [{ key: 'a', type: 'Text' }] }), 'a needs a type'],
    ['with an unknown property', answer({ schema: [{ ...title, index: true }] }), 'unknown property, index'],
    ['with a system field', answer({ schema: [{ key: '_id', type: 'String' }] }), '_id is written by the service'],
    ['with a field named __proto__', answer({ schema: [{ key: '__proto__', type: 'String' }] }), 'reserved name'],
    ['with a field named constructor', answer({ schema: [{ key: 'constructor', type: 'String' }] }), 'reserved name'],
    ['with an operator as field', answer({ schema: [{ key: '$where', type: 'String' }] }), 'begins with $'],
    [
      'with __proto__ as a property',
      '{"schema":[{"key":"a","type":"String","__proto__":{"x":1}}]}',
      'unknown property',
    ],
    [
      'with a schema that is only inherited',
      '{"__proto__":{"schema":[{"key":"a","type":"String"}]}}',
      'schema must be',
    ],
    ['with 101 fields', answer({ schema: Array.from({ length: 101 }, (_, n) => ({ ...title, key: `f${n}` })) }), '100'],
    ['nested too deeply', answer({ schema: [nested(9)] }), '8 levels'],
    ['nested beyond all measure', `{"schema":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, ''],
    ['with a default of the wrong type', answer({ schema: [{ ...title, default: 1 }] }), 'not a String'],
    ['with a lone surrogate', '{"schema":[{"key":"a","type":"String","default":"\\ud800"}]}', 'not one JSON object'],
    [
      'with a number that is too large',
      '{"schema":[{"key":"a","type":"Number","default":1e999}]}',
      'not one JSON object',
    ],
    ['with a reserved name', answer({ name: 'system.users', schema: [title] }), 'collection name'],
    ['with users in another case', answer({ name: 'Users', schema: [title] }), 'reserved'],
    ['with an operator as name', answer({ name: { $ne: null }, schema: [title] }), 'name must be a string'],
    ['of user accounts without email', answer({ name: 'users', schema: [title] }), 'email must be a required String'],
  ])('%s', (_what, text, reason) => {
    expect(parseProposal(text)).toEqual({ usable: false, reason: expect.stringContaining(reason) });
  });

  test('and the reason is short for any response', () => {
    const read = parseProposal(answer({ schema: [{ key: 'x'.repeat(100_000), type: 'String' }] }));
    expect(read.usable ? 0 : read.reason.length).toBeLessThanOrEqual(500);
    expect(read.usable).toBe(false);
  });
});

// Read with a pattern that tries everything, one of these would take longer than a test may.
test('256 KiB of braces and spaces are read', () => {
  for (const text of [
    '{'.repeat(260_000),
    `${' '.repeat(260_000)}`,
    `{${'} '.repeat(130_000)}`,
    '{"a":'.repeat(52_000),
  ]) {
    expect(parseProposal(text).usable).toBe(false);
  }
});
