import { MongoServerError } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../../shared/core/errors.ts';
import { pipelineFailure } from '../../../../shared/documents/aggregate/aggregate-documents.ts';

const pipeline = [{ $match: { s: { $regex: '(' } } }, { $project: { a: { $divide: [1, '$n'] } } }, { $geoNear: {} }];

const failure = (code: number, message = '') => pipelineFailure(new MongoServerError({ message, code }), pipeline);

describe('an aggregation that MongoDB rejects', () => {
  test.each<[string, number, string, string]>([
    ['INVALID_PIPELINE', 2, "Executor error on namespace: p_1.posts :: caused by :: can't $divide by zero", '$divide'],
    ['INVALID_PIPELINE', 14, '$divide only supports numeric types, not string', 'type that it does not accept'],
    ['INVALID_PIPELINE', 27, '$geoNear requires a 2d or 2dsphere index', '$geoNear needs a 2dsphere index'],
    ['INVALID_PIPELINE', 146, '$push would use too much memory', '100 MB of memory'],
    ['INVALID_PIPELINE', 292, 'Sort exceeded memory limit', '100 MB of memory'],
    ['INVALID_PIPELINE', 168, "Unrecognized expression '$bogus'", 'unknown operator'],
    ['INVALID_PIPELINE', 241, "Failed to parse number 'secret'", 'cannot be converted'],
    ['INVALID_PIPELINE', 13103, 'too many compound keys', 'at most 32 keys'],
    ['INVALID_PIPELINE', 31082, 'requires additional configuration', 'search index'],
    ['INVALID_PIPELINE', 51091, 'Regular expression is invalid', 'regular expression'],
    ['INVALID_PIPELINE', 40228, "'newRoot' must evaluate to an object", 'must be an object'],
    ['INVALID_PIPELINE', 99_999_999, 'something new', 'rejected at a stage'],
    ['QUERY_TIMEOUT', 50, 'operation exceeded time limit', '5 seconds'],
    ['RESULT_TOO_LARGE', 10334, 'BSONObj size: 20000000 is invalid', '16 MiB'],
    ['RESULT_TOO_LARGE', 17419, 'Resulting document is too large', '16 MiB'],
  ])('%s for code %d (%s)', (code, mongoCode, text, expected) => {
    const error = failure(mongoCode, text);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code, message: expect.stringContaining(expected) });
    expect((error as AppError).message).not.toContain(text);
  });

  test('INVALID_PIPELINE contains only text that the caller wrote', () => {
    const { message } = failure(2, 'near $internalThing and $project') as AppError;
    expect(message).toContain('$project');
    expect(message).not.toContain('internalThing');
  });

  test.each([6, 13, 18, 89, 175, 237, 9001, 11600, 13436])('keeps errors of the database itself, code %d', (code) => {
    const error = new MongoServerError({ message: '', code });
    expect(pipelineFailure(error, pipeline)).toBe(error);
  });

  test('keeps an error that is not from MongoDB', () => {
    const error = new AppError('RESULT_TOO_LARGE', 'too large');
    expect(pipelineFailure(error, pipeline)).toBe(error);
  });
});
