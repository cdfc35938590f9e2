import { expect, test } from 'vitest';
import { JsonText, jsonOf } from '../../../shared/core/json.ts';

const one = { a: 'x"y', n: [1, null] };
const text = new JsonText(JSON.stringify(one));

test.each<[string, unknown, unknown]>([
  ['alone', text, one],
  ['in an object', { data: text, b: 1 }, { data: one, b: 1 }],
  ['in a list', { data: [text, text] }, { data: [one, one] }],
  ['in a list that is part of the data', { data: { items: [text], total: 1 } }, { data: { items: [one], total: 1 } }],
  ['beside undefined members', { a: undefined, data: text, b: undefined }, { data: one }],
])('JSON text is inserted unchanged %s', (_title, value, expected) => {
  expect(jsonOf(value)).toBe(JSON.stringify(expected));
});

test.each<[string, unknown]>([
  ['an empty object', {}],
  ['an empty list', { data: { items: [] } }],
  ['a text', 'x'],
  ['null', { data: null }],
  ['a date, which has a form of its own', { data: { at: new Date(5), more: { at: new Date(6) } } }],
  ['what is nested', { a: { b: { c: { d: [{ e: 1 }] } } } }],
  ['undefined in a list', { a: [undefined, 1] }],
  ['names with quotes', { 'a"b': { 'c\\': 1 } }],
])('%s equals the result of JSON.stringify', (_title, value) => {
  expect(jsonOf(value)).toBe(JSON.stringify(value));
});
