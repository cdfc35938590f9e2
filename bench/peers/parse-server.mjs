/**
 * Parse Server in its recommended deployment, on the same engine with the same durability. Plain JavaScript, because
 * its packages are only installed by the benchmark.
 */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const { MONGODB_URI, PEER_DATABASE, PEER_APP_ID, PEER_MASTER_KEY, PEER_REST_KEY, PASSWORD_COST, BENCH_COMMANDS } =
  process.env;
const require = createRequire(import.meta.url);

// Parse Server always hashes at cost 10; this makes it use the same cost as the others.
const bcrypt = require('@node-rs/bcrypt');
const { hash } = bcrypt;
bcrypt.hash = (password) => hash(password, Number(PASSWORD_COST));

let commands = [];

// Its URI parser does not support Unix sockets, so the driver gets the URI unchanged, with the same durability.
const { MongoClient } = require('mongodb');
const { connect } = MongoClient;
MongoClient.connect = async (_address, options) => {
  const client = await connect.call(MongoClient, MONGODB_URI, {
    ...options,
    dbName: PEER_DATABASE,
    writeConcern: { w: 'majority', journal: true },
    monitorCommands: BENCH_COMMANDS !== undefined,
  });
  client.on('commandStarted', ({ commandName }) => commands.push(`mongodb ${commandName}`));
  return client;
};

const express = require('express');
const { ParseServer } = require('parse-server');

const http = createServer();
await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
const { port } = http.address();

const peer = new ParseServer({
  appId: PEER_APP_ID,
  masterKey: PEER_MASTER_KEY,
  restAPIKey: PEER_REST_KEY,
  serverURL: `http://127.0.0.1:${port}/parse`,
  directAccess: true,
  allowClientClassCreation: false,
  verifyServerUrl: false,
  silent: true,
  logLevel: 'error',
  logsFolder: null,
});
await peer.start();
http.on('request', express().use('/parse', peer.app));

process.on('message', (question) => {
  if (question !== 'commands') return process.send({ cpu: process.cpuUsage() });
  process.send({ commands });
  commands = [];
});
process.on('disconnect', () => process.exit(0));
process.send({ port });
