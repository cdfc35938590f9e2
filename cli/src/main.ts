#!/usr/bin/env node
import { run } from './run.ts';
import { processTerminal } from './terminal.ts';

// A reader such as head may close the pipe early.
process.stdout.on('error', () => process.exit());
process.exitCode = await run(processTerminal(), process.argv.slice(2));
