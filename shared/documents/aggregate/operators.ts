/**
 * What an operator makes of what it is given: `looks`, a number, a date or alike; `picks`, one of its operands or what
 * it finds in it; `multiplies`, a copy of the largest for each byte of the others; or of each byte so many of memory.
 */
type Rule = 'looks' | 'picks' | 'multiplies' | number;

const rules: readonly (readonly [rule: Rule, operators: string])[] = [
  [
    'looks',
    `abs acos acosh add allElementsTrue and anyElementTrue asin asinh atan atan2 atanh avg binarySize bitAnd bitNot
    bitOr bitXor bsonSize ceil cmp cos cosh count covariancePop covarianceSamp dateAdd dateDiff dateFromParts
    dateSubtract dateTrunc dayOfMonth dayOfWeek dayOfYear degreesToRadians denseRank derivative divide documentNumber
    eq exp expMovingAvg floor gt gte hour in indexOfArray indexOfBytes indexOfCP integral isArray isNumber
    isoDayOfWeek isoWeek isoWeekYear linearFill ln log log10 lt lte median millisecond minute mod month multiply ne
    not or pow radiansToDegrees rand rank regexMatch round second setEquals setIsSubset sin sinh size sqrt stdDevPop
    stdDevSamp strLenBytes strLenCP subtract sum tan tanh toBool toDate toDecimal toDouble toInt toLong toObjectId
    toUUID trunc tsIncrement tsSecond type week year`,
  ],
  ['picks', 'arrayElemAt bottom cond dateFromString expr first getField ifNull last locf max min shift switch top'],
  ['multiplies', 'regexFind replaceAll'],
  // What they gather of many documents MongoDB bounds itself.
  [0, 'addToSet push'],
  [2, 'concat ltrim replaceOne rtrim substr substrBytes substrCP toLower toUpper trim'],
  [4, 'concatArrays reverseArray slice sortArray'],
  [32, 'dateToString split zip'],
  [64, 'convert dateToParts objectToArray toArray toObject toString'],
  // It counts the characters anew for each match.
  [4096, 'regexFindAll'],
];
const byName: ReadonlyMap<string, Rule> = new Map(
  rules.flatMap(([rule, names]) => names.split(/\s+/).map((name) => [`$${name}`, rule] as const)),
);

/** An operator that is not named may be one of a later version. */
export const ruleOf = (operator: string): Rule => byName.get(operator) ?? 12;
