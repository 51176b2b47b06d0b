/** Twenty tasks in ten packages of npm, each with a hidden check. Packages have no dependencies, so nothing is installed. */

export interface Task {
  /** Name and version, as `npm pack` takes them. */
  readonly package: string;
  /** What is broken before the model begins: the first text in the file becomes the second. */
  readonly fault?: readonly [file: string, right: string, wrong: string];
  readonly prompt: string;
  /** JavaScript: true if the task is done; `p` is what the package exports. */
  readonly check: string;
}

export const tasks: readonly Task[] = [
  {
    package: "minimist@1.2.8",
    fault: ["index.js", "(/^0x[0-9a-f]+$/i)", "(/^0x[0-9a-f]+$/)"],
    prompt:
      "minimist(['--n', '0XFF']) gives the string '0XFF' and should give the number 255. Find the cause and fix it.",
    check: "p(['--n', '0XFF']).n === 255 && p(['--n', '0xg']).n === '0xg'",
  },
  {
    package: "minimist@1.2.8",
    prompt: "Add an option count: names of flags that are counted. With {count: ['v']}, -vvv gives 3, -v --v gives 2.",
    check:
      "p(['-vvv'], { count: ['v'] }).v === 3 && p(['-v', '--v'], { count: ['v'] }).v === 2 && p(['-ab'], {}).b === true",
  },
  {
    package: "semver@7.6.3",
    fault: [
      "classes/semver.js",
      "if (this.prerelease.length && !other.prerelease.length) {\n      return -1",
      "if (this.prerelease.length && !other.prerelease.length) {\n      return 1",
    ],
    prompt: "semver.lt('1.0.0-beta', '1.0.0') is false and should be true. Fix it.",
    check: "p.lt('1.0.0-beta', '1.0.0') && p.gt('1.0.0', '1.0.0-1') && !p.lt('1.0.0', '1.0.0-1')",
  },
  {
    package: "semver@7.6.3",
    prompt:
      "Add a function semver.next(version): an array of the next patch, minor and major version as texts. For an invalid version it gives null. Put it where the other functions are.",
    check: "JSON.stringify(p.next('1.2.3')) === '[\"1.2.4\",\"1.3.0\",\"2.0.0\"]' && p.next('x') === null",
  },
  {
    package: "picomatch@4.0.2",
    fault: ["lib/picomatch.js", "if (isIgnored(input)) {", "if (isIgnored(glob)) {"],
    prompt: "The option ignore has no effect: picomatch('*.js', {ignore: 'b.*'})('b.js') is true. Fix it.",
    check: "!p('*.js', { ignore: 'b.*' })('b.js') && p('*.js', { ignore: 'b.*' })('a.js')",
  },
  {
    package: "picomatch@4.0.2",
    prompt:
      "Add picomatch.filter(list, patterns, options): the texts of the list that match, in their order, each once.",
    check: "p.filter(['b.js', 'a.ts', 'c.js', 'b.js'], '*.js').join() === 'b.js,c.js'",
  },
  {
    package: "mri@1.2.0",
    fault: ["lib/index.js", "substring(j, j + 3) === 'no-'", "substring(j, j + 2) === 'no-'"],
    prompt: "mri(['--no-color']) should give color: false, as the readme says. Fix it.",
    check: "p(['--no-color']).color === false && p(['--nota']).nota === true",
  },
  {
    package: "mri@1.2.0",
    prompt:
      "Add the option stopEarly: with true, the first word that is no flag and everything after it go to _ unchanged. Type declarations and readme too.",
    check:
      "JSON.stringify(p(['-a', '--b=1', 'run', '--c'], { stopEarly: true, boolean: ['a'] })) === '{\"_\":[\"run\",\"--c\"],\"a\":true,\"b\":1}'",
  },
  {
    package: "bytes@3.1.2",
    fault: ["index.js", "mag >= map.gb", "mag > map.gb"],
    prompt: "bytes(1073741824) gives '1024MB' and should give '1GB'. Fix it.",
    check: "p(1073741824) === '1GB' && p(1073741823, { decimalPlaces: 0 }) === '1024MB'",
  },
  {
    package: "bytes@3.1.2",
    prompt: "Support exabytes (EB, 1024 PB), in both directions, and in the readme.",
    check: "p(1024 ** 6) === '1EB' && p('2eb') === 2 * 1024 ** 6 && p(1024 ** 5) === '1PB'",
  },
  {
    package: "range-parser@1.2.1",
    fault: ["index.js", "start = size - end", "start = end"],
    prompt: "The last 10 bytes of 100 ('bytes=-10') should begin at 90. Fix it.",
    check: "p(100, 'bytes=-10')[0].start === 90 && p(100, 'bytes=0-4')[0].end === 4",
  },
  {
    package: "range-parser@1.2.1",
    prompt: "Add the option maxRanges: a header with more ranges gives -2. Without the option all are allowed.",
    check: "p(100, 'bytes=0-1,3-4', { maxRanges: 1 }) === -2 && p(100, 'bytes=0-1,3-4', { maxRanges: 2 }).length === 2",
  },
  {
    package: "ms@2.1.3",
    fault: ["index.js", "return n * w;", "return n * d;"],
    prompt: "ms('1w') gives a day. Fix it.",
    check: "p('1w') === 604800000 && p('2 days') === 172800000",
  },
  {
    package: "ms@2.1.3",
    prompt: "Support months (mo, month, months), a twelfth of a year, when texts are parsed. m stays minutes.",
    check: "p('1 month') === 2629800000 && p('2mo') === 5259600000 && p('1m') === 60000",
  },
  {
    package: "deepmerge@4.3.1",
    fault: ["dist/cjs.js", "|| stringValue === '[object Date]'", "|| stringValue === '[object Map]'"],
    prompt: "Merging objects with a Date loses it: the result has an empty object. Fix dist/cjs.js.",
    check: "p({}, { d: new Date(5) }).d.getTime() === 5 && p({ a: { b: 1 } }, { a: { c: 2 } }).a.b === 1",
  },
  {
    package: "deepmerge@4.3.1",
    prompt:
      "Add the option arrays: 'replace' in dist/cjs.js: an array of the source then replaces that of the target. arrayMerge wins if both are given.",
    check:
      "p({ a: [1] }, { a: [2] }, { arrays: 'replace' }).a.join() === '2' && p({ a: [1] }, { a: [2] }).a.join() === '1,2'",
  },
  {
    package: "camelcase@8.0.0",
    fault: ["index.js", "toUpperCase(input.charAt(0)) + input.slice(1)", "toUpperCase(input.charAt(0)) + input"],
    prompt: "camelCase('foo-bar', {pascalCase: true}) gives 'FfooBar' and should give 'FooBar'. Fix it.",
    check: "p('foo-bar', { pascalCase: true }) === 'FooBar'",
  },
  {
    package: "camelcase@8.0.0",
    prompt: "Add the option capitalizeAfterNumber (default true): with false, camelCase('foo2bar') stays 'foo2bar'.",
    check: "p('foo2bar', { capitalizeAfterNumber: false }) === 'foo2bar' && p('foo2bar') === 'foo2Bar'",
  },
  {
    package: "cookie@0.7.2",
    fault: ["index.js", "Math.floor(opt.maxAge)", "Math.ceil(opt.maxAge)"],
    prompt: "A maxAge of 1.9 should be rounded down in serialize, so that a cookie never lives too long. Fix it.",
    check: "p.serialize('a', 'b', { maxAge: 1.9 }) === 'a=b; Max-Age=1'",
  },
  {
    package: "cookie@0.7.2",
    prompt:
      "Add the option multiple to parse: with true, a name that comes more than once gives an array of its values. Without it the first value stays.",
    check:
      "p.parse('a=1; b=2; a=3', { multiple: true }).a.join() === '1,3' && p.parse('a=1; a=3').a === '1' && p.parse('b=2', { multiple: true }).b === '2'",
  },
];
