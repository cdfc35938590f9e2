/** Names of fields that usually hold the path of a file. */
const fileNames =
  /(?:file|image|photo|picture|avatar|attachment|logo|cover|thumbnail|video|audio|pdf)s?(?:path|url)?$/i;

/** A text is the path of a file of a project: an owner, a random id, and the name. */
const filePath = /^[^/]+\/[0-9a-f-]{36}_/;

export const isFilePath = (value: unknown): value is string => typeof value === 'string' && filePath.test(value);

/** True if forms offer the files of the project for a text field of this name. */
export const isFileName = (key: string): boolean => fileNames.test(key);

/** True if a field holds the path of a file, by its value or its name. */
export const holdsFile = (key: string, text: string): boolean => (text === '' ? isFileName(key) : isFilePath(text));
