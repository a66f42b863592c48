// SPDX-License-Identifier: Apache-2.0
// node suite.js MODULES ENGINE: runs the suite of MODULES/abstract-leveldown on MODULES/rocksdb, whose
// binding must have been built in place, after a look at which engine that has loaded.
'use strict'
const fs = require('fs')
const os = require('os')
const path = require('path')

const modules = path.resolve(process.argv[2])
const wanted = process.argv[3]
const load = (name) => require(path.join(modules, name))
const tape = load('tape')
const rocksdb = load('rocksdb')

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'leveldown-'))
let made = 0
const location = () => path.join(root, String(made++))
process.on('exit', () => fs.rmSync(root, { recursive: true, force: true }))

tape('the engine is ' + wanted, (t) => {
  const binding = load('node-gyp-build').path(path.join(modules, 'rocksdb'))
  t.equal(path.relative(modules, binding), path.join('rocksdb', 'build', 'Release', 'leveldown.node'))
  const loaded = fs.readFileSync('/proc/self/maps', 'utf8')
  t.equal(loaded.includes('libcompassdb'), wanted === 'compassdb', loaded.match(/\S*lib(compass|rocks)db\S*/)[0])
  t.end()
})

load('abstract-leveldown/test')({
  test: tape,
  factory: (options) => rocksdb(location(), options),
  clear: true,
  getMany: true
})
