import { describe, expect, test } from 'vitest';
import { parseTask, workRetryDelay, workTries } from '../../../shared/persistence/work-queue.ts';

const id = '0123456789abcdef01234567';

describe('a message is', () => {
  test.each([
    { task: 'purge-trash', projectId: id },
    { task: 'transfer', transferId: id },
    { task: 'remove-files', projectId: id, collection: 'notes' },
  ])('the task %j', (task) => {
    expect(parseTask(JSON.stringify(task))).toEqual(task);
  });

  test.each([
    '',
    'purge-trash',
    'null',
    '[]',
    '{}',
    '{"task":"purge-trash"}',
    '{"task":"purge-trash","projectId":"x"}',
    `{"task":"purge-trash","projectId":{"$ne":"${id}"}}`,
    `{"task":"transfer","projectId":"${id}"}`,
    `{"task":"other","projectId":"${id}"}`,
    `{"task":"transfer","transferId":"${id}","more":1}`,
  ])('rejected when it is %s', (body) => {
    expect(parseTask(body)).toBeUndefined();
  });
});

test('a failed task is retried after 30 s, then after three times as long each time', () => {
  const delays = Array.from({ length: workTries }, (_, index) => workRetryDelay(index + 1));
  expect(delays).toEqual([30, 90, 270, 810, 2430]);
});
