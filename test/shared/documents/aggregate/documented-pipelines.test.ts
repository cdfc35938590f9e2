import { describe, expect, test } from 'vitest';
import { checkPipeline } from '../../../../shared/documents/aggregate/check-pipeline.ts';
import { boundPipeline } from '../../../../shared/documents/aggregate/memory.ts';
import { documentedPipelines } from './documented-pipelines.ts';

describe('a pipeline of MongoDB’s manual is accepted', () => {
  test.each(documentedPipelines)('%s', (_page, pipeline) => {
    expect(() => boundPipeline(checkPipeline(pipeline).pipeline)).not.toThrow();
  });

  test('for every allowed stage, and at least 60 of them', () => {
    expect(documentedPipelines.length).toBeGreaterThanOrEqual(60);
    const stages = new Set(documentedPipelines.flatMap(([, pipeline]) => pipeline.flatMap(Object.keys)));
    expect(stages.size).toBe(28);
  });
});
