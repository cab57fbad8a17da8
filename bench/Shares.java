// SPDX-License-Identifier: MIT OR GPL-2.0-only
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;

/**
 * `java Shares SECONDS`: work of several kinds, with compilation and garbage collection beside it. There are no known shares: the
 * map that Java writes at its end lacks code that was replaced before.
 */
public class Shares {
    static long hot(long steps) {
        long sum = 0;
        for (long n = 0; n < steps; n++)
            sum += sum >> 3 ^ n * 3;
        return sum;
    }

    static long warm(long steps) {
        long sum = 0;
        for (long n = 0; n < steps; n++)
            sum += sum >> 3 ^ n * 3;
        return sum;
    }

    static long cold(long steps) {
        long sum = 0;
        for (long n = 0; n < steps; n++)
            sum += sum >> 3 ^ n * 3;
        return sum;
    }

    static int counted(int words) {
        HashMap<String, Integer> map = new HashMap<>();
        for (int n = 0; n < words; n++)
            map.merge("k" + n * 7919 % 1009, 1, Integer::sum);
        return map.size();
    }

    static int sorted(int count) {
        Integer[] numbers = new Integer[count];
        for (int n = 0; n < count; n++)
            numbers[n] = n * 7919 % 10007;
        Arrays.sort(numbers, Comparator.reverseOrder());
        return numbers[0];
    }

    public static void main(String[] arguments) {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1000000000L, sum = 0;
        while (System.nanoTime() < end)
            sum += hot(900000) + warm(600000) + cold(300000) + counted(3000) + sorted(1500);
        System.exit(sum == 0 ? 1 : 0);
    }
}
