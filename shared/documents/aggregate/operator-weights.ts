const words = (text: string): string[] => text.split(/\s+/).map((name) => `$${name}`);

/** Operators that only look: whatever they are given, the result is a number, a date or alike. */
export const looking: ReadonlySet<string> = new Set(
  words(
    `abs acos acosh add allElementsTrue and anyElementTrue asin asinh atan atan2 atanh avg binarySize bitAnd bitNot
    bitOr bitXor bsonSize ceil cmp cos cosh count covariancePop covarianceSamp dateAdd dateDiff dateFromParts
    dateFromString dateSubtract dateToParts dateToString dateTrunc dayOfMonth dayOfWeek dayOfYear degreesToRadians
    denseRank derivative divide documentNumber eq exp expMovingAvg floor gt gte hour in indexOfArray indexOfBytes
    indexOfCP integral isArray isNumber isoDayOfWeek isoWeek isoWeekYear linearFill ln log log10 lt lte median
    millisecond minute mod month multiply ne not or percentile pow radiansToDegrees rand rank regexMatch round second
    setEquals setIsSubset sin sinh size sqrt stdDevPop stdDevSamp strLenBytes strLenCP subtract sum tan tanh toBool
    toDate toDecimal toDouble toInt toLong toObjectId toUUID trunc tsIncrement tsSecond type week year`,
  ),
);

/** Operators that hand on one of their operands, or what they find in it. */
export const picking: ReadonlySet<string> = new Set(
  words('addToSet arrayElemAt bottom cond first getField ifNull last locf max min push shift top'),
);

/** What an operator makes of each byte that it copies. */
interface Weight {
  /** Bytes of memory. */
  readonly memory: number;
  /** Bytes of BSON; 1 where elements and characters stay what they are. */
  readonly result: number;
}

const each = (names: string, weight: Weight) => words(names).map((name) => [name, weight] as const);
const weights: ReadonlyMap<string, Weight> = new Map([
  ...each('concat ltrim replaceAll replaceOne rtrim substr substrBytes substrCP toLower toUpper trim', {
    memory: 2,
    result: 1,
  }),
  ...each('concatArrays reverseArray slice sortArray', { memory: 4, result: 1 }),
  ...each('zip', { memory: 16, result: 8 }),
  ...each('split', { memory: 32, result: 8 }),
  ...each('convert objectToArray toArray toObject toString', { memory: 64, result: 8 }),
  // It counts the characters anew for each match.
  ...each('regexFindAll', { memory: 4096, result: 64 }),
]);

/** An operator that is not named may be one of a later version. */
export const weightOf = (operator: string): Weight => weights.get(operator) ?? { memory: 16, result: 1 };
