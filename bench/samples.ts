export const authors = 1000;

/** A document as an app would store it, about 300 bytes. */
export const sampleDocument = (index: number): Record<string, unknown> => ({
  title: `Post number ${index}`,
  author: `author-${index % authors}`,
  body: 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.',
  likes: index % 500,
  published: index % 3 === 0,
  tags: ['one', 'two', 'three'],
});

/** As many as one request may insert. */
export const sampleBulk = (index: number): Record<string, unknown>[] =>
  Array.from({ length: 100 }, (_, offset) => sampleDocument(index * 100 + offset));

/** Whom documents refer to. */
export const sampleWriter = (index: number): Record<string, unknown> => ({
  name: `Writer number ${index}`,
  about: 'Writes about whatever comes along, and about speed.',
});

/** Sums up what one author has written. */
export const sumsOf = (index: number) => [
  { $match: { author: `author-${(index * 7) % authors}` } },
  { $group: { _id: '$published', posts: { $sum: 1 }, likes: { $sum: '$likes' } } },
  { $sort: { _id: 1 } },
];
