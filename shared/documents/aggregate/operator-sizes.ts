const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).map((name) => `$${name}`));

/** Operators whose result is a number, a date or alike, whatever they are given. */
export const scalarOperators: ReadonlySet<string> = words(
  `abs acos acosh add asin asinh atan atan2 atanh avg binarySize bitAnd bitNot bitOr bitXor bsonSize ceil cmp cos cosh
  count covariancePop covarianceSamp dateAdd dateDiff dateFromParts dateFromString dateSubtract dateToParts dateToString
  dateTrunc dayOfMonth dayOfWeek dayOfYear degreesToRadians denseRank derivative divide documentNumber eq exp
  expMovingAvg floor gt gte hour in indexOfArray indexOfBytes indexOfCP integral isArray isNumber isoDayOfWeek isoWeek
  isoWeekYear linearFill ln log log10 lt lte median millisecond minute mod month multiply ne not percentile pow
  radiansToDegrees rand rank regexMatch round second sin sinh size sqrt stdDevPop stdDevSamp strLenBytes strLenCP
  subtract sum tan tanh toBool toDate toDecimal toDouble toInt toLong toObjectId toUUID trunc tsIncrement tsSecond type
  week year and or allElementsTrue anyElementTrue`,
);

/** Operators that hand on one of their operands, or what they find in it, and copy nothing. */
export const pickOperators: ReadonlySet<string> = words(
  'addToSet arrayElemAt bottom first getField ifNull last locf max min push shift top',
);

/** Operators that copy text: the result takes as much as all they are given, once. */
export const textOperators: ReadonlySet<string> = words(
  'concat ltrim replaceOne rtrim substr substrBytes substrCP toLower toString toUpper trim',
);

/** How much an operator makes of what it is given, at most. */
export interface Growth {
  /** Bytes of BSON of the result, for each that its operands have. */
  readonly weight: number;
  /** Bytes of memory that the result takes, for each byte of BSON of its operands. */
  readonly held: number;
  /** The same with what is made on the way. */
  readonly work: number;
}

/**
 * For every operator that is not named: it copies what it is given. An element takes 16 bytes, and 4.5 of BSON at
 * least.
 */
export const copies: Growth = { weight: 1, held: 4, work: 4 };

/** Operators that make more of what they are given than a copy. */
export const growths: ReadonlyMap<string, Growth> = new Map([
  ...['$setUnion', '$setIntersection', '$setDifference', '$setEquals', '$setIsSubset'].map(
    (name) => [name, { weight: 1, held: 4, work: 16 }] as const,
  ),
  ...['$mergeObjects', '$setField', '$unsetField'].map((name) => [name, { weight: 1, held: 16, work: 16 }] as const),
  ['$arrayToObject', { weight: 1, held: 16, work: 16 }],
  ...['$convert', '$toArray', '$toObject'].map((name) => [name, { weight: 4, held: 32, work: 32 }] as const),
  ['$split', { weight: 12, held: 48, work: 48 }],
  ['$regexFind', { weight: 2, held: 8, work: 8 }],
  ['$regexFindAll', { weight: 64, held: 512, work: 512 }],
]);
