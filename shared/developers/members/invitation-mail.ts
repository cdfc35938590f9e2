const longestName = 40;

/**
 * What makes a link of a name, or breaks out of its place in a sentence: all but words and what is usual between them.
 */
const unusual = /[^\p{L}\p{M}\p{N} .,&+'’()_-]+/gu;

/** A dot that more follows on could make a host of the words around it; that of a version is left. */
const joiningDot = /\.(?=[\p{L}\p{M}])|(?<!\p{N})\.(?=\p{N})|(?<=\p{N}\.\p{N}+)\.(?=\p{N})/gu;

/**
 * The name of a project as a mail from the service's own address shows it to a stranger: 40 characters, without links.
 * `''` where nothing is left of it.
 */
export const mailedName = (name: string): string => {
  const words = name
    .replace(unusual, ' ')
    .replace(joiningDot, ' ')
    .replace(/\bwww\b/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return [...words].slice(0, longestName).join('').trim();
};
