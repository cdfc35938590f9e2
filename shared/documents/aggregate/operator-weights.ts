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
  words('addToSet arrayElemAt bottom cond first getField ifNull last locf max min push shift switch top'),
);

/** What an operator makes of each byte that it is given: bytes of memory, and of its result as BSON. */
type Weight = readonly [memory: number, result: number];

const weights: ReadonlyMap<string, Weight> = new Map(
  Object.entries<Weight>({
    'concat ltrim replaceAll replaceOne rtrim substr substrBytes substrCP toLower toUpper trim': [2, 1],
    'concatArrays reverseArray slice sortArray': [4, 1],
    zip: [16, 8],
    split: [32, 8],
    'convert objectToArray toArray toObject toString': [64, 8],
    // It counts the characters anew for each match.
    regexFindAll: [4096, 64],
  }).flatMap(([names, weight]) => words(names).map((name) => [name, weight] as const)),
);

/** An operator that is not named may be one of a later version. */
export const weightOf = (operator: string): Weight => weights.get(operator) ?? [12, 1];
