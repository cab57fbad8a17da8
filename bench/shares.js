// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * `node shares.js SECONDS`: work of several kinds. The processor time of hot(), warm() and cold() is printed, in us. Garbage
 * collection, sorting, parsing and maps run beside them, in code of V8's own.
 */
'use strict';

function hot(steps) { let sum = 1; for (let n = 0; n < steps; n++) sum = (sum * 3 + (sum >> 3)) | 0; return sum; }
function warm(steps) { let sum = 1; for (let n = 0; n < steps; n++) sum = (sum * 3 + (sum >> 3)) | 0; return sum; }
function cold(steps) { let sum = 1; for (let n = 0; n < steps; n++) sum = (sum * 3 + (sum >> 3)) | 0; return sum; }

function counted(words) {
    const map = new Map();
    for (let n = 0; n < words; n++) {
        const key = 'k' + n * 7919 % 1009;
        map.set(key, (map.get(key) || 0) + 1);
    }
    return map.size;
}

function sorted(count) {
    const numbers = [];
    for (let n = 0; n < count; n++)
        numbers.push(n * 7919 % 10007);
    numbers.sort((one, other) => one - other);
    return numbers[0];
}

function parsed(times) {
    const text = JSON.stringify({ a: [1, 2, 3, 'x'.repeat(20)], b: { c: 1.5, d: null } });
    let sum = 0;
    for (let n = 0; n < times; n++)
        sum += JSON.parse(text).a[1];
    return sum;
}

const functions = [hot, hot, hot, warm, warm, cold], times = { hot: 0, warm: 0, cold: 0 };
const end = Date.now() + 1000 * process.argv[2];
let sum = 0;

function measured(work) {
    const before = process.cpuUsage();
    sum += work(300000);
    const { user, system } = process.cpuUsage(before);
    times[work.name] += user + system;
}

while (Date.now() < end) {
    for (let n = 0; n < 10; n++)
        measured(functions[Math.floor(Math.random() * 6)]); // so that no rhythm of the program meets the timer's
    sum += counted(3000) + sorted(1500) + parsed(300);
}
for (const name in times)
    console.log(name, times[name]);
process.exitCode = sum === 0 ? 1 : 0;
