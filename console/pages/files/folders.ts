/** What is known of a file in a list. */
interface Placed {
  readonly owner: string | null;
  readonly document: { readonly collection: string; readonly id: string } | null;
}

/** The folder of users' files; no collection with files has this name. */
export const ofUsers = 'users';

/** A file is in the folder of its document, else of its user, else in none: `posts/<id>`, `users/<id>`. */
export const folderOf = ({ document, owner }: Placed): readonly string[] => {
  if (document) return [document.collection, document.id];
  return owner === null ? [] : [ofUsers, owner];
};

const isBelow = (folder: readonly string[], above: readonly string[]): boolean =>
  above.every((name, place) => folder[place] === name);

export interface Folder {
  readonly path: string;
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

/** What a folder holds: its folders by name, and its own files. */
export const contentsOf = <T extends Placed & { readonly size: number }>(all: readonly T[], at: readonly string[]) => {
  const below = all.filter((file) => isBelow(folderOf(file), at));
  const own = below.filter((file) => folderOf(file).length === at.length);
  const inside = Map.groupBy(
    below.filter((file) => folderOf(file).length > at.length),
    (file) => folderOf(file)[at.length] ?? '',
  );
  const folders = [...inside].map(
    ([name, within]): Folder => ({
      path: [...at, name].join('/'),
      name,
      count: within.length,
      bytes: within.reduce((sum, { size }) => sum + size, 0),
    }),
  );
  return { below, own, folders: folders.toSorted((a, b) => a.name.localeCompare(b.name)) };
};

const texts = /^(?:text\/|application\/(?:pdf|json|rtf|msword|vnd\.(?:openxmlformats|oasis|ms-)))/;

export const kinds = ['image', 'media', 'text', 'other'] as const;
export type Kind = (typeof kinds)[number];

export const kindOf = ({ contentType }: { readonly contentType: string }): Kind => {
  if (contentType.startsWith('image/')) return 'image';
  if (/^(?:audio|video)\//.test(contentType)) return 'media';
  return texts.test(contentType) ? 'text' : 'other';
};

/** The files with words in their names, and of a kind. */
export const matching = <T extends { readonly name: string; readonly contentType: string }>(
  all: readonly T[],
  words: string,
  kind: string | undefined,
): readonly T[] => {
  const sought = words.toLowerCase();
  return all.filter((file) => file.name.toLowerCase().includes(sought) && (!kind || kindOf(file) === kind));
};
