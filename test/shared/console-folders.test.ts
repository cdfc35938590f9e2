import { describe, expect, test } from 'vitest';
import { contentsOf, kindOf, matching } from '../../console/pages/files/folders.ts';

const file = (name: string, owner: string | null = null, of?: string, contentType = 'text/plain') => {
  const [collection = '', id = ''] = of?.split('/') ?? [];
  return { name, size: 10, contentType, owner, document: of === undefined ? null : { collection, id } };
};

const all = [
  file('logo.png', null, undefined, 'image/png'),
  file('a.txt', 'ada'),
  file('b.mp4', 'bob', undefined, 'video/mp4'),
  file('c.txt', 'ada', 'posts/1'),
  file('d.bin', null, 'posts/2', 'application/octet-stream'),
];

const shown = (at: readonly string[]) => {
  const { own, folders } = contentsOf(all, at);
  return [folders.map(({ path, count, bytes }) => [path, count, bytes]), own.map(({ name }) => name)];
};

describe('the folders of files', () => {
  test.each([
    [
      [],
      [
        ['posts', 2, 20],
        ['users', 2, 20],
      ],
      ['logo.png'],
    ],
    [
      ['users'],
      [
        ['users/ada', 1, 10],
        ['users/bob', 1, 10],
      ],
      [],
    ],
    [['users', 'ada'], [], ['a.txt']],
    [
      ['posts'],
      [
        ['posts/1', 1, 10],
        ['posts/2', 1, 10],
      ],
      [],
    ],
    [['posts', '2'], [], ['d.bin']],
    [['nothing'], [], []],
  ])('%j holds the folders %j and the files %j', (at, folders, own) => {
    expect(shown(at)).toEqual([folders, own]);
  });

  test('have a filter by words and kind', () => {
    expect(matching(all, 'TXT', undefined).map(({ name }) => name)).toEqual(['a.txt', 'c.txt']);
    expect(matching(all, '', 'media').map(({ name }) => name)).toEqual(['b.mp4']);
    expect(all.map(kindOf)).toEqual(['image', 'text', 'media', 'text', 'other']);
  });
});
